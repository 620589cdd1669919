"""A release by local recoding, as one query: a walk down the tree of divisions, then the class's own values.

The query contains the tree as two lists of rows for each depth (`reid_nodes_1`, `reid_edges_1`, …) and the
classes with what they show (`reid_classes`). It names only cuts of ranges, and values that a whole class
shows or shares: no record. A record whose value leads to no class, since the table has changed, is left out.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.steps import ALL, text
from reid_sql.models.generalization.boxes import NONE, NULL, Boxes, PartitionColumn
from reid_sql.models.generalization.partition import Partition
from reid_sql.parameters import quoted, sql_text

NODE: Final = "reid_node"
KEY: Final = "reid_key"
SINGLE: Final = "="  # begins the key of a value, so that none equals that of NULL
NULL_KEY: Final = ""
UP_TO: Final = "{} to {}"
INTEGER: Final = "BIGINT"
TEXT: Final = "VARCHAR"
Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class Texts:
    """The texts of a column's values at each level, by their codes; None is NULL."""

    levels: tuple[Labels, ...]

    def of(self, column: PartitionColumn, boxes: Boxes) -> list[str | None]:
        """Give what each class shows: a value, a range with both ends, or that of a level."""
        lows, highs = boxes.low.tolist(), boxes.high.tolist()
        if not column.ordered:
            return [
                self.levels[level][low]
                for level, low in zip(boxes.level.tolist(), lows, strict=True)
            ]
        values = self.levels[0]
        everything = (column.records_within(boxes) == column.below[-1]).tolist()
        # a limited range has its ends, even if it contains every value of a narrow column
        if column.limits:
            everything = ((boxes.low == NULL) & (boxes.high > NULL)).tolist()
        return [
            values[low]
            if low == high
            else ALL
            if whole
            else UP_TO.format(values[low], values[high])
            for low, high, whole in zip(lows, highs, everything, strict=True)
        ]


def read_texts(original: DuckDBTableCounts, hierarchy: Hierarchy, column: PartitionColumn) -> Texts:
    """Read the text of each code of each level."""
    values = original.engine.distinct.values(hierarchy.column)
    steps = [text("v"), *(text(step.sql("v")) for step in hierarchy.steps)]
    everything = f"SELECT code, v FROM {values} UNION ALL SELECT 0, NULL"
    rows = original.engine.ask(
        f"SELECT {', '.join(steps)} FROM ({everything}) ORDER BY code", "values"
    )
    levels: list[Labels] = []
    for codes, written in zip(column.levels.codes, zip(*rows, strict=True), strict=True):
        labels: list[str | None] = [None] * (int(codes.max()) + 1)
        for code, each in zip(codes.tolist(), written, strict=True):
            labels[code] = each
        levels.append(tuple(labels))
    return Texts(tuple(levels))


def label_classes(column: PartitionColumn, texts: Texts, boxes: Boxes) -> Labels:
    """Give what each class shows; one text never has two meanings, as the same rest of two levels would."""
    labels = texts.of(column, boxes)
    if column.ordered:
        return tuple(labels)
    pairs = set(zip(labels, boxes.level.tolist(), boxes.low.tolist(), strict=True))
    meanings: dict[str | None, set[bytes]] = {}
    for label, level, code in pairs:
        members = np.flatnonzero((column.table[level] == code) & (column.levels.records > 0))
        meanings.setdefault(label, set()).add(members.tobytes())
    return tuple(
        f"{label} (level {level})" if label is not None and len(meanings[label]) > 1 else label
        for label, level in zip(labels, boxes.level.tolist(), strict=True)
    )


@dataclass(frozen=True)
class Split:
    """How a node divides: a column by the values of a level, or by a cut; the cut after NULL has no value."""

    column: str
    hierarchy: Hierarchy
    level: int
    kind: str  # of the column in the source

    @property
    def key(self) -> str:
        """The key of a record in SQL, where the node is joined."""
        if self.level == NONE:
            value = quoted(self.column)
            cut = f"CAST(reid_cut AS {self.kind})"
            return f"CASE WHEN {value} IS NULL OR {value} <= {cut} THEN '0' ELSE '1' END"
        return f"coalesce('{SINGLE}' || {quoted(self.name)}, '{NULL_KEY}')"

    @property
    def name(self) -> str:
        """The column of the texts of the level."""
        return f"reid_{self.level}_{self.column}"

    @property
    def value(self) -> str:
        """The text of the level in SQL."""
        return f"{text(self.hierarchy.sql(self.level))} AS {quoted(self.name)}"


@dataclass(frozen=True)
class LocalTransformation:
    """The partition of a table, with the texts of its values and what each class shows of each column."""

    hierarchies: tuple[Hierarchy, ...]
    columns: tuple[PartitionColumn, ...]
    kinds: tuple[str, ...]
    texts: tuple[Texts, ...]
    partition: Partition

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [each.column for each in self.hierarchies]

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """What each class shows of each column that is not as it was in all of them."""
        return {
            hierarchy.column: label_classes(column, texts, boxes)
            for hierarchy, column, texts, boxes in zip(
                self.hierarchies, self.columns, self.texts, self.partition.boxes, strict=True
            )
            if (boxes.level > 0).any() or (boxes.low != boxes.high).any()
        }

    @property
    def levels_read(self) -> list[tuple[Hierarchy, int]]:
        """The levels that the query computes; at level 0 a value is compared as text."""
        return [(self.hierarchies[at], level) for at, level in self.splits if level != NONE]

    @property
    def left_out(self) -> set[str]:
        """The columns of which every class shows the same."""
        return {name for name, labels in self.labels.items() if set(labels) == {ALL}}

    @cached_property
    def splits(self) -> dict[tuple[int, int], Split]:
        """The ways of dividing that the tree uses, by the place of the column and the level."""
        used = {
            (int(column), int(level))
            for generation in self.partition.generations
            for column, level in zip(generation.column, generation.level, strict=True)
        }
        return {
            (column, level): Split(
                self.names[column], self.hierarchies[column], level, self.kinds[column]
            )
            for column, level in sorted(used)
        }

    def select(
        self, names: Sequence[str], source: str, write_rows: "WriteRows | None" = None
    ) -> str:
        """Write the release as a query on the source; DuckDB reads long lists of rows from JSON alone."""
        write = write_rows or rows_of_json
        shown = [name for name in names if name not in self.labels]
        carried = list(dict.fromkeys([*names, *self.names]))
        steps = [self._start(carried, source), *self._tree(write)]
        depth = len(self.partition.generations)
        steps += [self._walk(carried, at) for at in range(1, depth + 1)]
        steps.append(self._classes(names, write))
        listed = ", ".join(
            f"{'reid_row' if name in shown else 'reid_class'}.{quoted(name)}" for name in names
        )
        walked = f"reid_depth_{depth} AS reid_row JOIN reid_classes AS reid_class"
        ctes = ",\n".join(steps)
        return f"WITH {ctes}\nSELECT {listed}\nFROM {walked} ON reid_row.{NODE} = reid_class.{NODE}"

    def _start(self, names: Sequence[str], source: str) -> str:
        """Give each record the texts by which the tree divides, at the root of the tree."""
        texts = [split.value for split in self.splits.values() if split.level != NONE]
        listed = ",\n    ".join([*(quoted(name) for name in names), *texts, f"0 AS {NODE}"])
        return f"reid_depth_0 AS (\n  SELECT\n    {listed}\n  FROM {source}\n)"

    def _walk(self, names: Sequence[str], depth: int) -> str:
        """Move each record to the part of its node that its value is in."""
        carried = [*names, *(split.name for split in self.splits.values() if split.level != NONE)]
        listed = ", ".join(quoted(name) for name in carried)
        cases = " ".join(
            f"WHEN {at} THEN {split.key}" for at, split in enumerate(self.splits.values())
        )
        node = f"coalesce(reid_edge.reid_child, reid_row.reid_rest, reid_row.{NODE}) AS {NODE}"
        here = f"reid_depth_{depth - 1} AS reid_row LEFT JOIN reid_nodes_{depth} AS reid_here"
        keyed = f"""SELECT {listed}, reid_row.{NODE}, reid_rest, CASE reid_split {cases} END AS {KEY}
    FROM {here} ON reid_row.{NODE} = reid_here.{NODE}"""
        rows = ", ".join(f"reid_row.{quoted(name)}" for name in carried)
        return f"""reid_depth_{depth} AS (
  SELECT {rows}, {node}
  FROM ({keyed}) AS reid_row
  LEFT JOIN reid_edges_{depth} AS reid_edge
    ON reid_row.{NODE} = reid_edge.{NODE} AND reid_row.{KEY} = reid_edge.{KEY}
)"""

    def _tree(self, write: "WriteRows") -> Iterator[str]:
        """List the nodes of each depth with how they divide, and their edges with keys."""
        numbers = {key: at for at, key in enumerate(self.splits)}
        for depth, generation in enumerate(self.partition.generations, 1):
            splits = list(zip(generation.column.tolist(), generation.level.tolist(), strict=True))
            cuts = [
                None if level != NONE or cut == NULL else self.texts[column].levels[0][cut]
                for (column, level), cut in zip(splits, generation.cut.tolist(), strict=True)
            ]
            rows = zip(
                generation.node.tolist(), splits, cuts, generation.rest.tolist(), strict=True
            )
            nodes = [(node, numbers[split], cut, rest) for node, split, cut, rest in rows]
            edges: list[tuple[int, str, int]] = []
            split_of = dict(zip(generation.node.tolist(), splits, strict=True))
            for node, key, child in zip(
                generation.edge_node.tolist(),
                generation.edge_key.tolist(),
                generation.edge_child.tolist(),
                strict=True,
            ):
                column, level = split_of[node]
                if level == NONE:
                    edges.append((node, str(key), child))
                    continue
                label = self.texts[column].levels[level][key]
                edges.append((node, NULL_KEY if label is None else f"{SINGLE}{label}", child))
            splitting = {
                NODE: INTEGER,
                "reid_split": INTEGER,
                "reid_cut": TEXT,
                "reid_rest": INTEGER,
            }
            yield write(f"reid_nodes_{depth}", splitting, nodes)
            yield write(
                f"reid_edges_{depth}", {NODE: INTEGER, KEY: TEXT, "reid_child": INTEGER}, edges
            )

    def _classes(self, names: Sequence[str], write: "WriteRows") -> str:
        """List the classes with what they show."""
        shown = [name for name in names if name in self.labels]
        rows = zip(
            self.partition.leaves.tolist(), *(self.labels[name] for name in shown), strict=True
        )
        return write("reid_classes", {NODE: INTEGER} | dict.fromkeys(shown, TEXT), list(rows))


Rows = Sequence[Sequence[int | str | None]]
WriteRows = Callable[[str, Mapping[str, str], Rows], str]


def rows_of_json(name: str, columns: Mapping[str, str], rows: Rows) -> str:
    """Write rows as a named list for DuckDB, which takes gigabytes to read 100,000 rows of VALUES."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    listed = ", ".join(
        f"CAST(reid_list[{at}] AS {kind}) AS {quoted(column)}"
        for at, (column, kind) in enumerate(columns.items(), 1)
    )
    read = f"""unnest(from_json({sql_text(f"[{lines}]")}, '[["VARCHAR"]]')) AS reid_list"""
    return f"{name} AS (\n  SELECT {listed}\n  FROM (SELECT {read}) AS {name}\n)"


def rows_of_values(name: str, columns: Mapping[str, str], rows: Rows) -> str:
    """Write rows as a named list that every database reads."""
    lines = ",\n  ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    listed = ", ".join(quoted(column) for column in columns)
    return f"{name} AS (\n  SELECT * FROM (VALUES\n  {lines}\n  ) AS {name}({listed})\n)"


def _literal(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    return sql_text(value) if isinstance(value, str) else str(value)
