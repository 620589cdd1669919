"""The classes of a table in memory, by pandas."""

import pandas as pd

from benchmarks.speed.stopwatch import Stopwatch


def run(file: str, columns: list[str]) -> tuple[Stopwatch, dict[str, int]]:
    """Sum up the sizes of the groups, NULL a value of its own."""
    table = pd.read_parquet(file, columns=columns)
    with Stopwatch() as took:
        sizes = table.groupby(columns, dropna=False).size()
        found = {"classes": len(sizes), "records": int(sizes.sum()), "highest": int(sizes.max())}
        found["unique_records"] = int((sizes == 1).sum())
    return took, found
