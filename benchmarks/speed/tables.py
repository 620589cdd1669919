"""Processor time and loss of secondary suppression, beside tau-Argus: `python -m benchmarks.speed.tables`.

tau-Argus is asked where REID_SQL_TAUARGUS_PYTHON names a Python that has pytauargus. Its attacker knows less
(a listed cell may be of nobody), and its intervals are as wide as a cell's own count to both sides.
"""

import json
import os
import subprocess
import time
from itertools import product
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from reid_sql.models.tables.suppression import suppress_cells

TABLES: Final = {  # categories of each column, and people
    "two columns": ((30, 30), 20_000),
    "three columns": ((8, 6, 6), 6_000),
    "three columns, larger": ((16, 10, 5), 20_000),
    "four columns": ((8, 6, 5, 4), 10_000),
    "four columns, larger": ((12, 10, 8, 7), 200_000),
    "four columns of few people": ((12, 10, 8, 7), 30_000),
    "two columns, larger": ((100, 100), 100_000),
}
WIDTH: Final = 5
Codes = np.ndarray[Any, np.dtype[np.int64]]
TAU_ARGUS: Final = """
import json, sys, tempfile, time
from pytauargus import protect
people = json.load(sys.stdin)
columns = [name for name in people if name != "one"]
with tempfile.TemporaryDirectory() as folder:
    begun = time.process_time()
    rules = {"safety_rules": "FREQ(5,100)", "suppress": "OPT(1)"}
    made = protect(people, columns, response="one", workdir=folder, **rules)
    seconds = time.process_time() - begun
    rows = [line.rstrip().split(";") for line in open(made.tables[0].path)]
own = len(columns)
inner = [row for row in rows if all("Total" not in each for each in row[:own])]
loss = sum(float(row[own]) for row in inner if row[own + 3] in "UMD")
print(json.dumps([seconds, loss]))
"""


def draw_people(categories: tuple[int, ...], people: int) -> Codes:
    """People whose categories are skewed, so that some cells are small."""
    rng = np.random.default_rng(7)
    shares = [np.arange(size, 0, -1) / (size * (size + 1) / 2) for size in categories]
    return np.stack([rng.choice(len(each), people, p=each) for each in shares], axis=1) + 1


def count_cells(people: Codes) -> tuple[Codes, Codes]:
    """All cells with their totals, 0 for a total."""
    cells = []
    for shown in product((0, 1), repeat=people.shape[1]):
        codes, counts = np.unique(people * np.array(shown), axis=0, return_counts=True)
        cells.append(np.column_stack([codes, counts]))
    found = np.concatenate(cells)
    return found[:, :-1], found[:, -1]


def ask_tau_argus(people: Codes) -> str:
    """Its processor time and the share of people in hidden cells."""
    python = os.environ.get("REID_SQL_TAUARGUS_PYTHON")
    if not python:
        return "-"
    micro = {
        f"c{place}": [f"k{code}" for code in column]
        for place, column in enumerate(people.T.tolist())
    }
    given = json.dumps({**micro, "one": [1.0] * len(people)})
    command = [python, "-c", TAU_ARGUS]
    with TemporaryDirectory() as folder:  # in which its solver writes logs
        asked = subprocess.run(
            command, input=given, capture_output=True, text=True, check=True, cwd=folder
        )
    seconds, loss = json.loads(asked.stdout.strip().splitlines()[-1])
    return f"{seconds:.2f} s, {loss / len(people):.1%}"


def main() -> None:
    """Print a line for each table."""
    for name, (categories, number) in TABLES.items():
        people = draw_people(categories, number)
        codes, counts = count_cells(people)
        begun = time.process_time()
        found = suppress_cells(codes, counts, counts < WIDTH, WIDTH)
        seconds = time.process_time() - begun
        inner = (codes > 0).all(axis=1)
        loss = counts[inner & (found.statuses > 0)].sum() / number
        with_totals = f"{found.loss:,.0f} with totals, at least {found.least:,.0f}"
        print(f"{name}: {len(counts):,} cells, {(counts < WIDTH).sum()} unsafe")
        print(f"  reid-sql {seconds:.2f} s, {loss:.1%} of people hidden ({with_totals})")
        print(f"  tau-Argus {ask_tau_argus(people)}")


if __name__ == "__main__":
    main()
