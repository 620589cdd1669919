"""Ask the planted sequences of a guard: which small groups follow from what it shows?

    python -m benchmarks.guards                              serve, and rules that others document
    python -m benchmarks.guards --guard my_module:make

planted_sequences.json has a table (cells and how many people each has), sequences of plain statements, and
the group of few people that follows from all true answers of each. `make(connection, mask)` returns what
answers a statement with rows, or raises; it is made anew for each sequence. An integer programme decides
what follows: it knows how many people there are, which values exist, and each count that was shown.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.guards.serve import Serve

Rows = list[tuple[Any, ...]]
Guard = Callable[[str], Rows]
FILE: Final = Path(__file__).with_name("planted_sequences.json")


def open_access(data: duckdb.DuckDBPyConnection, _: int) -> Guard:
    """Rules of access by table and function: what may be read is answered."""
    return lambda sql: data.execute(sql).fetchall()


def drop_small_rows(data: duckdb.DuckDBPyConnection, below: int) -> Guard:
    """A minimum number of people for each row of a result, without memory: smaller rows are left out."""
    return lambda sql: [row for row in data.execute(sql).fetchall() if row[-1] >= below]


def refuse_small_rows(data: duckdb.DuckDBPyConnection, below: int) -> Guard:
    """A minimum number of people for a result: one with a smaller row is refused."""

    def ask(sql: str) -> Rows:
        rows = data.execute(sql).fetchall()
        if any(row[-1] < below for row in rows):
            raise ValueError("a result must be about more people")
        return rows

    return ask


GUARDS: Final[dict[str, Callable[[duckdb.DuckDBPyConnection, int], Guard]]] = {
    "access rules": open_access,
    "minimum per row": drop_small_rows,
    "minimum per result": refuse_small_rows,
    "reid-sql serve": Serve,
}


class Knowledge:
    """What is known of the number of people in each cell."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Begin with the values of each column, and how many people there are."""
        self.names = table["columns"]
        values = [
            sorted({cell[place] for cell in table["cells"]}) for place in range(len(self.names))
        ]
        self.cells = list(product(*values))
        self.people = sum(cell[-1] for cell in table["cells"])
        self.con = duckdb.connect()
        self.con.register(
            "listed",
            {
                name: np.array([cell[place] for cell in self.cells])
                for place, name in enumerate(self.names)
            },
        )
        self.con.execute(
            "CREATE TABLE people AS SELECT *, row_number() OVER () - 1 AS place FROM listed"
        )
        self.rows, self.totals = [np.ones(len(self.cells))], [float(self.people)]

    def learn(self, sql: str, rows: Rows) -> None:
        """Learn the counts of an answer: a group is the cells that the statement itself selects."""
        cells = self.con.execute(sql.replace("count(*)", "list(place)")).fetchall()
        groups = {row[:-1]: row[-1] or [] for row in cells}
        for row in rows:
            if row[-1] is not None and row[:-1] in groups:
                self._add(groups[row[:-1]], float(row[-1]))
        if None not in {row[-1] for row in rows} and len(rows) >= len(groups):
            for group in groups.keys() - {row[:-1] for row in rows}:
                self._add(groups[group], 0.0)

    def _add(self, places: list[int], total: float) -> None:
        row = np.zeros(len(self.cells))
        row[places] = 1
        self.rows.append(row)
        self.totals.append(total)

    def follows(self, where: str, below: int) -> bool:
        """Whether each table that agrees has someone in a group, and fewer than the mask."""
        places = [
            row[0] for row in self.con.execute(f"SELECT place FROM people WHERE {where}").fetchall()
        ]
        group = np.zeros(len(self.cells))
        group[places] = 1
        return not (self._can_be(group, 0, 0) or self._can_be(group, below, self.people))

    def _can_be(self, group: np.ndarray, low: float, high: float) -> bool:
        rows, ends = (
            np.array([*self.rows, group]),
            (np.array([*self.totals, low]), np.array([*self.totals, high])),
        )
        found = milp(
            np.zeros(len(self.cells)),
            integrality=np.ones(len(self.cells)),
            bounds=Bounds(0, self.people),
            constraints=LinearConstraint(rows, *ends),
        )
        return bool(found.status == 0)


def judge(
    planted: Mapping[str, Any], make: Callable[[duckdb.DuckDBPyConnection, int], Guard]
) -> dict[str, int]:
    """Ask all sequences of a guard."""
    below, table = planted["mask"], planted["table"]
    judged = {
        "sequences": 0,
        "revealed": 0,
        "questions": 0,
        "shown": 0,
        "harmless": 0,
        "harmless_shown": 0,
    }
    for sequence in planted["sequences"]:
        with duckdb.connect(config={"threads": "1"}) as data:
            names = table["columns"]
            cells = {
                name: [cell[place] for cell in table["cells"]]
                for place, name in enumerate([*names, "n"])
            }
            data.register("cells", {name: np.array(column) for name, column in cells.items()})
            data.execute(
                f"CREATE TABLE people AS SELECT {', '.join(names)} FROM cells, range(100) r(i) WHERE i < n"
            )
            guard, knowledge, kind = (
                make(data, below),
                Knowledge(table),
                "" if sequence["hidden"] else "harmless_",
            )
            for sql in sequence["questions"]:
                judged["harmless" if kind else "questions"] += 1
                try:
                    rows = guard(sql)
                except Exception:  # noqa: BLE001, S112 - a refusal, of whatever kind
                    continue
                judged[f"{kind}shown"] += all(None not in row for row in rows)
                knowledge.learn(sql, rows)
            if sequence["hidden"]:
                judged["sequences"] += 1
                judged["revealed"] += knowledge.follows(sequence["hidden"], below)
    return judged


def main() -> int:
    """Print a line for each guard."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--guard", help="module:function, in place of those that are built in")
    options = parser.parse_args()
    guards = GUARDS
    if options.guard:
        module, _, name = options.guard.partition(":")
        guards = {options.guard: getattr(import_module(module), name)}
    planted = json.loads(FILE.read_text(encoding="utf-8"))
    for name, make in guards.items():
        found = judge(planted, make)
        sys.stdout.write(
            f"{name}: {found['revealed']} of {found['sequences']} groups revealed; answers without a hidden cell: "
            f"{found['shown']} of {found['questions']} questions, {found['harmless_shown']} of {found['harmless']} "
            "harmless ones\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
