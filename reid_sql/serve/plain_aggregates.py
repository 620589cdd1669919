"""Plain SQL of one table, `SELECT g, count(*) FROM t WHERE … GROUP BY g`, written as a SELECT from safe cells.

The columns that a statement names make a table of cells, which `safe_table` protects and the record judges,
with its totals. What a client sees is computed from the published cells and totals alone, in the database for
clients: so a plain statement reveals what its cells reveal, and nothing else.

A count adds up several cells. It is shown in two cases, which both follow from what is published:

- the published cells of its group add up to the published total of the group: then nothing of it is hidden,
  and cells that are not there have nobody;
- the filter names its values one by one (=, IN, a range of whole numbers or of days), and each is published.

Else it is NULL, whether the rest is hidden or has nobody: which of both is nobody's business. Groups without a
published cell are together one last row of NULLs.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters import quoted, sql_text
from reid_sql.serve.catalogue import ServedColumn

Node = dict[str, Any]
COUNTS: Final = frozenset({"count", "count_star"})
SUMS: Final = frozenset({"sum", "avg", "mean"})
OTHER_AGGREGATES: Final = frozenset(["any_value", "bool_and", "bool_or", "max", "median", "min", "stddev"])
AGGREGATES: Final = COUNTS | SUMS | OTHER_AGGREGATES
WHOLE_NUMBERS: Final = frozenset(
    ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"]
)
MAX_VALUES: Final = 10_000  # of a range
LOWER: Final = {"COMPARE_GREATERTHANOREQUALTO": 0, "COMPARE_GREATERTHAN": 1}  # from the bound to it
UPPER: Final = {"COMPARE_LESSTHANOREQUALTO": 0, "COMPARE_LESSTHAN": 1}
MIRRORED: Final = {
    "COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO",
    "COMPARE_GREATERTHAN": "COMPARE_LESSTHAN",
    "COMPARE_LESSTHANOREQUALTO": "COMPARE_GREATERTHANOREQUALTO",
    "COMPARE_LESSTHAN": "COMPARE_GREATERTHAN",
}


@dataclass
class Values:
    """The values of a column that a filter names: one by one, and between two ends."""

    listed: set[object] | None = None
    lowest: int | None = None
    highest: int | None = None

    def number(self) -> int | None:
        """How many values these are; None where the filter does not tell."""
        if self.listed is not None:
            return len([value for value in self.listed if self._is_between(value)])
        if self.lowest is None or self.highest is None:
            return None
        number = self.highest - self.lowest + 1
        return number if 0 < number <= MAX_VALUES else None

    def _is_between(self, value: object) -> bool:
        place = _place(value)
        if self.lowest is None and self.highest is None:
            return True
        return place is not None and (
            (self.lowest is None or place >= self.lowest)
            and (self.highest is None or place <= self.highest)
        )


@dataclass
class PlainSelect:
    """One SELECT of a served table on its way to a SELECT from cells.

    `parse` reads SQL as a tree, `write` writes a tree, `compute` computes constants, and `ask` adds a call of
    safe_table with its arguments and returns the number of its answer.
    """

    node: Node
    table: str
    alias: str
    columns: Mapping[str, ServedColumn]
    parse: Callable[[str], Node]
    write: Callable[[Node], str]
    compute: Callable[[Sequence[Node]], Sequence[Any]]
    ask: Callable[[Mapping[str, Any]], int]
    groups: list[Node] = field(default_factory=list)
    figures: list[Node] = field(default_factory=list)  # aggregates, each once

    def rewrite(self) -> Node:
        """Return the SELECT from cells; what no table of cells answers is refused."""
        self._refuse_parts()
        where = self._bare(self.node["where_clause"])
        self.groups = [self._bare(self._group(each)) for each in self._group_expressions()]
        outer = {
            **self.node,
            "select_list": [self._selected(each) for each in self.node["select_list"]],
            "having": None,
            "group_expressions": [],
            "group_sets": [],
            "aggregate_handling": "STANDARD_HANDLING",
            "modifiers": [self._modifier(each) for each in self.node["modifiers"]],
        }
        having = self._replaced(self.node["having"]) if self.node["having"] else None
        cells = self._cells(where)
        template = self.parse("SELECT 1 FROM (SELECT 1) AS cells WHERE reid_hidden OR reid_having")
        outer["from_table"] = {**template["from_table"], "subquery": _as_subquery(cells, template)}
        condition = _spliced(template["where_clause"], {"reid_having": having or {}})
        outer["where_clause"] = condition if having else None
        return outer

    def _refuse_parts(self) -> None:
        """Refuse what is not groups, counts and sums, and name the question that answers."""
        example = f"SELECT {self._example()}, count(*) FROM {quoted(self.table)} GROUP BY ALL"
        sets = self.node["group_sets"]
        if sets and sets != [list(range(len(self.node["group_expressions"])))]:
            rule = "groups must be of the same columns, got several sets of them"
            raise OutOfDomainError(f"{rule}; ask for each with its own GROUP BY")
        if any(each["type"] == "DISTINCT_MODIFIER" for each in self.node["modifiers"]):
            raise OutOfDomainError(
                f"values must be counted, got DISTINCT, which lists rare ones; write {example}"
            )
        self._refuse_aggregates(example)
        is_grouped = self.node["group_expressions"] or self.node["aggregate_handling"] != (
            "STANDARD_HANDLING"
        )
        if not is_grouped and not any(
            _aggregates(each) for each in (*self.node["select_list"], self.node["having"])
        ):
            raise OutOfDomainError(
                f"a statement must count the records of a table, got one that reads them; write {example}"
            )

    def _refuse_aggregates(self, example: str) -> None:
        for each in _aggregates([self.node["select_list"], self.node["having"], *self._orders()]):
            name = _name(each)
            if name in OTHER_AGGREGATES:
                rule = f"a figure must be count(*), sum or avg, got {name}, which shows the value of one record"
                raise OutOfDomainError(f"{rule}; count the values: {example}")
            if each.get("filter"):
                raise OutOfDomainError(
                    f"{name} must have no FILTER, got one; write the condition after WHERE"
                )

    def _example(self) -> str:
        named = [each for each in _columns_in(self.node) if self._find(each) is not None]
        return quoted(self._find(named[0]) or "") if named else quoted(next(iter(self.columns), "c"))

    def _find(self, name: str) -> str | None:
        return next((each for each in self.columns if each.casefold() == name.casefold()), None)

    def _group_expressions(self) -> list[Node]:
        if self.node["group_expressions"]:
            return list(self.node["group_expressions"])
        if self.node["aggregate_handling"] == "STANDARD_HANDLING":
            return []
        return [each for each in self.node["select_list"] if not _aggregates(each)]  # GROUP BY ALL

    def _group(self, part: Node) -> Node:
        """Resolve the number of a column of the answer, or its name."""
        if part["type"] == "VALUE_CONSTANT":
            [place] = self.compute([part])
            if isinstance(place, int) and 0 < place <= len(self.node["select_list"]):
                part = self.node["select_list"][place - 1]
        elif part["type"] == "COLUMN_REF" and self._find(part["column_names"][-1]) is None:
            named = str(part["column_names"][-1]).casefold()
            part = next(
                (
                    each
                    for each in self.node["select_list"]
                    if str(each.get("alias", "")).casefold() == named
                ),
                part,
            )
        return {**part, "alias": ""}

    def _bare(self, part: Any) -> Any:  # noqa: ANN401 - any part of a tree
        """Name the columns without their table, as the table has them."""
        if isinstance(part, list):
            return [self._bare(each) for each in part]
        if not isinstance(part, dict):
            return part
        if part.get("type") == "COLUMN_REF":
            return {**part, "column_names": [self._column(part)]}
        if part.get("type") == "SUBQUERY":
            raise OutOfDomainError(
                "a condition must be of columns and constants, got a subquery; write its values"
            )
        return {key: self._bare(each) for key, each in part.items()}

    def _column(self, part: Node) -> str:
        *places, name = part["column_names"]
        found = self._find(name)
        is_here = not places or str(places[-1]).casefold() in {
            self.table.casefold(),
            self.alias.casefold(),
        }
        if found is None or not is_here:
            rule = f"a column must be one of {self.table}, got '{'.'.join([*places, name])}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, list(self.columns), 'columns')}")
        return found

    def _selected(self, part: Node) -> Node:
        """Replace a column of the answer, which keeps the name that it would have."""
        alias = part.get("alias") or (
            part["column_names"][-1]
            if part["type"] == "COLUMN_REF"
            else self.write({**part, "alias": ""})
        )
        return {**self._replaced(part), "alias": alias}

    def _replaced(self, part: Any) -> Any:  # noqa: ANN401 - any part of a tree
        """Replace groups and aggregates by the columns of the cells that have them."""
        if isinstance(part, list):
            return [self._replaced(each) for each in part]
        if not isinstance(part, dict) or part.get("type") == "VALUE_CONSTANT":
            return part
        if _name(part) in AGGREGATES:
            return self._reference(f"reid_{self._figure(part)}", part)
        if "class" in part:
            is_column = part["type"] == "COLUMN_REF"
            if not is_column or self._find(part["column_names"][-1]) is not None:
                shape = _shape({**self._bare(part), "alias": ""}) if not _aggregates(part) else ""
                shapes = [_shape(each) for each in self.groups]
                if shape in shapes:
                    return self._reference(f"reid_g{shapes.index(shape)}", part)
            if is_column:
                rule = f"a column must be counted or one of GROUP BY, got '{self._column(part)}'"
                raise OutOfDomainError(f"{rule}; add it to GROUP BY")
        return {key: self._replaced(each) for key, each in part.items()}

    def _reference(self, name: str, part: Node) -> Node:
        node: Node = self.parse(f"SELECT {name}")["select_list"][0]
        return {**node, "alias": part.get("alias", "")}

    def _orders(self) -> list[Node]:
        return [order for each in self.node["modifiers"] for order in each.get("orders", [])]

    def _modifier(self, part: Node) -> Node:
        """Replace what an answer is ordered by, but for names and numbers of its columns."""
        aliases = {str(each.get("alias", "")).casefold() for each in self.node["select_list"]}

        def replaced(order: Node) -> Node:
            by = order["expression"]
            names = by.get("column_names") or [""]
            is_name = len(names) == 1 and str(names[0]).casefold() in aliases - {""}
            is_all = by["type"] == "STAR"
            return order if is_name or is_all else {**order, "expression": self._replaced(by)}

        if part["type"] != "ORDER_MODIFIER":
            return part
        return {**part, "orders": [replaced(each) for each in part["orders"]]}

    def _figure(self, part: Node) -> int:
        """Return the place of an aggregate among those of the statement."""
        shapes = [_shape(each) for each in self.figures]
        bare = {**self._bare(part), "alias": ""}
        if _shape(bare) not in shapes:
            self.figures.append(bare)
            return len(shapes)
        return shapes.index(_shape(bare))

    def _cells(self, where: Node | None) -> Node:
        """Write the SELECT of the groups from published cells, with a last row where some are hidden."""
        plain = [each["column_names"][0] for each in self.groups if each["type"] == "COLUMN_REF"]
        by = list(dict.fromkeys([*plain, *_columns_in([self.groups, where])]))
        rest = by[len(dict.fromkeys(plain)) :]
        calls = [self._call(figure, by) for figure in self.figures]
        counted = next((number for number, figure in calls if figure == "count"), None)
        if counted is None:  # which groups are shown is decided by counts
            counted = self._call(None, by)[0]
        values = {f"reid_group_{place}": each for place, each in enumerate(self.groups)}
        if not by:
            shown = ", ".join(
                f"reid_answer_{number}.records AS reid_{place}"
                for place, (number, _) in enumerate(calls)
            )
            tables = ", ".join(f"reid_answer_{number}" for number, _ in calls)
            return self.parse(f"SELECT {shown}, false AS reid_hidden FROM {tables}")
        has_expressions = len(plain) < len(self.groups)
        number = None if has_expressions else self._number_of_cells(where, plain)
        template = self.parse(_template(by, plain, rest, calls, counted, len(self.groups), number))
        return _spliced(template, {**values, "reid_where": where or self._true()})

    def _true(self) -> Node:
        node: Node = self.parse("SELECT true")["select_list"][0]
        return node

    def _call(self, figure: Node | None, by: Sequence[str]) -> tuple[int, str]:
        """Ask for the cells of a figure; returns the number of the answer and the figure's expression."""
        arguments: dict[str, Any] = {"tbl": self.table, "by": list(by)}
        name = _name(figure) if figure else "count_star"
        of = figure and _arguments(figure)
        column = of[0]["column_names"][0] if of and of[0]["type"] == "COLUMN_REF" else None
        if figure and name in COUNTS:
            if figure.get("distinct"):
                arguments["entity"] = self._argument(name, column)
            elif column is not None and self.columns[column].has_nulls:
                rule = f"count must be of records, got those with a value in {column}"
                raise OutOfDomainError(f"{rule}; write count(*), and GROUP BY {column} IS NULL")
        if name in SUMS:
            arguments["value"] = self._argument(name, column)
            if not by or (figure and figure.get("distinct")):
                raise OutOfDomainError(
                    f"{name} must be of the records of a group, got another; name columns after GROUP BY"
                )
            if name != "sum" and self.columns[arguments["value"]].has_nulls:
                rule = f"{name} must be of a column with a value in each record, got {column}"
                raise OutOfDomainError(f"{rule}; ask for sum({quoted(column or '')}) and count(*)")
            return self.ask(arguments), f"{'sum' if name == 'sum' else 'avg'}"
        return self.ask({**arguments, "totals": "margins"} if by else arguments), "count"

    def _argument(self, name: str, column: str | None) -> str:
        if column is None:
            raise OutOfDomainError(f"{name} must be of a column, got an expression; name the column")
        return column

    def _number_of_cells(self, where: Node | None, plain: Sequence[str]) -> int | None:
        """How many cells of a group a filter names one by one; None where it names them in another way."""
        named: dict[str, Values] = {}
        for part in _conjuncts(where):
            columns = list(dict.fromkeys(_columns_in(part)))
            if set(columns) <= set(plain) and columns:
                continue
            if len(columns) != 1 or not self._narrow(
                named.setdefault(columns[0], Values()), columns[0], part
            ):
                return None
        numbers = [values.number() for values in named.values()]
        number = 1
        for each in numbers:
            if each is None:
                return None
            number *= each
        return number

    def _narrow(self, values: Values, column: str, part: Node) -> bool:
        """Narrow the values of a column by a condition; False where it does not name them one by one."""
        kind, sides = part["type"], [part.get("left"), part.get("right")]
        if kind == "OPERATOR_IS_NULL" and part["children"][0]["type"] == "COLUMN_REF":
            return self._list(values, [None])
        if kind == "COMPARE_IN":
            first, *constants = part["children"]
            return first["type"] == "COLUMN_REF" and self._list_constants(values, column, constants)
        if kind == "COMPARE_BETWEEN":
            ends = self._constants(column, [part["lower"], part["upper"]])
            return part["input"]["type"] == "COLUMN_REF" and (
                ends is not None and self._bound(values, _place(ends[0]), _place(ends[1]))
            )
        if sides[1] is not None and sides[1]["type"] == "COLUMN_REF":
            sides, kind = sides[::-1], MIRRORED.get(kind, kind)
        if sides[0] is None or sides[0]["type"] != "COLUMN_REF":
            return False
        if kind == "COMPARE_EQUAL":
            return self._list_constants(values, column, [sides[1]])
        ends = self._constants(column, [sides[1]]) if kind in LOWER or kind in UPPER else None
        place = _place(ends[0]) if ends else None
        if place is None:
            return False
        if kind in LOWER:
            return self._bound(values, place + LOWER[kind], None)
        return self._bound(values, None, place - UPPER[kind])

    def _list_constants(self, values: Values, column: str, nodes: Sequence[Node]) -> bool:
        constants = self._constants(column, nodes)
        return constants is not None and self._list(values, constants)

    def _list(self, values: Values, listed: Sequence[object]) -> bool:
        values.listed = set(listed) if values.listed is None else values.listed & set(listed)
        return True

    def _bound(self, values: Values, low: int | None, high: int | None) -> bool:
        if low is None and high is None:
            return False
        if low is not None:
            values.lowest = low if values.lowest is None else max(low, values.lowest)
        if high is not None:
            values.highest = high if values.highest is None else min(high, values.highest)
        return True

    def _constants(self, column: str, nodes: Sequence[Node | None]) -> list[object] | None:
        """Compute constants as values of a column's type; None where one may stand for several of them."""
        if any(each is None or _columns_in(each) for each in nodes):
            return None
        values = [_as_type(each, self.columns[column].type) for each in self.compute([n for n in nodes if n])]
        return None if None in values else values


def _template(
    by: Sequence[str],
    plain: Sequence[str],
    rest: Sequence[str],
    calls: Sequence[tuple[int, str]],
    counted: int,
    groups: int,
    number: int | None,
) -> str:
    """Write the SELECT of groups, with names in place of the client's expressions.

    `reid_complete` says that the cells of a plain group add up to its total. A sum is shown where no cell of
    any group is hidden, neither from the counts nor from the sums: hidden sums of one table may follow from
    those of another.
    """
    joined = "".join(
        f" LEFT JOIN (FROM reid_answer_{n} WHERE len(total_over) = 0) AS a{n}"
        f" ON {_same('a' + str(counted), 'a' + str(n), by)}"
        for n in dict.fromkeys(n for n, _ in calls)
        if n != counted
    )
    figures = "".join(
        f", a{n}.{'records' if figure == 'count' else 'value_sum'} AS reid_value_{place}, a{n}.records AS reid_records_{place}"
        for place, (n, figure) in enumerate(calls)
    )
    own = ", ".join(f"a{counted}.{quoted(name)}" for name in by)
    of_group = ", ".join(quoted(name) for name in dict.fromkeys(plain))
    total = "[" + ", ".join(sql_text(name) for name in rest) + "]::VARCHAR[]"
    named = "".join(f"reid_group_{place} AS reid_g{place}, " for place in range(groups))
    every = "coalesce((SELECT bool_and(reid_complete) FROM judged), false)"
    is_shown = "bool_and(reid_complete)" if groups else every
    listed = f" OR count(*) = {number}" if number is not None else ""
    shown = "".join(_shown(place, figure, f"{is_shown}{listed}", every) for place, (_, figure) in enumerate(calls))
    hidden = "".join(["NULL, "] * groups + ["NULL, "] * len(calls))
    last = f" UNION ALL SELECT {hidden}true AS reid_hidden WHERE NOT {every}" if groups else ""
    return f"""WITH cells AS (SELECT {own}, a{counted}.records AS reid_records{figures}
            FROM (FROM reid_answer_{counted} WHERE len(total_over) = 0) AS a{counted}{joined}),
        wholes AS (SELECT {of_group + ", " if of_group else ""}records AS reid_whole
            FROM reid_answer_{counted} WHERE total_over = {total}),
        summed AS (SELECT {of_group + ", " if of_group else ""}sum(reid_records) AS reid_sum FROM cells
            {"GROUP BY " + of_group if of_group else ""}),
        complete AS (SELECT {", ".join(f"s.{quoted(n)}" for n in dict.fromkeys(plain)) + ", " if of_group else ""}
            coalesce(s.reid_sum = w.reid_whole, false) AS reid_complete
            FROM summed AS s LEFT JOIN wholes AS w ON {_same("s", "w", plain)}),
        judged AS (SELECT c.*, k.reid_complete FROM cells AS c JOIN complete AS k ON {_same("c", "k", plain)})
        SELECT {named}{shown}false AS reid_hidden FROM judged WHERE reid_where
        {"GROUP BY " + ", ".join(f"reid_group_{place}" for place in range(groups)) if groups else ""}{last}"""


def _shown(place: int, figure: str, is_shown: str, every: str) -> str:
    """Write a figure of a group, and NULL where it is hidden."""
    value = f"sum(reid_value_{place})"
    if figure == "count":
        whole = f"count(reid_records_{place}) = count(*)"
        return f"CASE WHEN {whole} AND ({is_shown}) THEN coalesce({value}, 0)::BIGINT END AS reid_{place}, "
    divisor = f" / sum(reid_records_{place})" if figure == "avg" else ""
    whole = f"(SELECT count(reid_records_{place}) = count(*) FROM judged)"
    return f"CASE WHEN {every} AND {whole} THEN {value}{divisor} END AS reid_{place}, "


def _same(one: str, other: str, columns: Sequence[str]) -> str:
    named = dict.fromkeys(map(quoted, columns))
    return " AND ".join(f"{one}.{c} IS NOT DISTINCT FROM {other}.{c}" for c in named) or "true"


def _as_type(value: object, kind: str) -> object | None:
    """Read a constant as the one value of a type that equals it; None where that is not sure."""
    try:
        if kind == "VARCHAR":
            return value if isinstance(value, str) else None
        if kind in WHOLE_NUMBERS:
            return int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
        if kind == "DATE":
            return date.fromisoformat(value) if isinstance(value, str) else value if type(value) is date else None
        if kind == "BOOLEAN":
            return value if isinstance(value, bool) else None
    except ValueError:
        pass
    return None


def _place(value: object) -> int | None:
    """Return the place of a whole number or of a day among all of its kind."""
    if isinstance(value, date):
        return value.toordinal()
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _conjuncts(part: Node | None) -> Iterator[Node]:
    if part is None:
        return
    if part["type"] == "CONJUNCTION_AND":
        for each in part["children"]:
            yield from _conjuncts(each)
    else:
        yield part


def _columns_in(part: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a tree
    if isinstance(part, dict):
        if part.get("type") == "COLUMN_REF":
            yield str(part["column_names"][-1])
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _columns_in(each)


def _aggregates(part: Any) -> list[Node]:  # noqa: ANN401 - any part of a tree
    """List the calls of aggregates in a part of a tree."""
    if isinstance(part, list):
        return [found for each in part for found in _aggregates(each)]
    if not isinstance(part, dict):
        return []
    return [part] if _name(part) in AGGREGATES else _aggregates(list(part.values()))


def _name(part: Node) -> str:
    """Return the name of a function; empty for other parts."""
    if part.get("type") != "FUNCTION":
        return ""
    path = (part.get("qualified_name") or {}).get("path") or [part.get("function_name", "")]
    return str(path[-1]).lower()


def _arguments(function: Node) -> list[Node]:
    """List the arguments, which DuckDB before 2.0 calls children."""
    if function.get("arguments"):
        return [each["expression"] for each in function["arguments"]]
    return list(function.get("children", []))


def _shape(node: Node) -> str:
    """Write a part of a tree without its places in the text."""

    def placeless(part: Node) -> Node:
        return {key: each for key, each in part.items() if not key.startswith("query_location")}

    return json.dumps(json.loads(json.dumps(node), object_hook=placeless), sort_keys=True)


def _spliced(part: Any, parts: Mapping[str, Node]) -> Any:  # noqa: ANN401 - any part of a tree
    """Put parts of a client's statement in place of the columns that stand for them."""
    if isinstance(part, list):
        return [_spliced(each, parts) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "COLUMN_REF" and part["column_names"][0] in parts:
        return {**parts[part["column_names"][0]], "alias": part.get("alias", "")}
    return {key: _spliced(each, parts) for key, each in part.items()}


def _as_subquery(select: Node, template: Node) -> Node:
    """Put a SELECT in place of that of a subquery."""
    subquery: Node = template["from_table"]["subquery"]
    return {**subquery, "node": select}
