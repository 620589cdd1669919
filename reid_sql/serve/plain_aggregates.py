"""Plain SQL of one table, `SELECT g, count(*) FROM t WHERE … GROUP BY g`, becomes a SELECT from safe cells.

The columns that a statement names make a table of cells, which `safe_table` protects and the record judges,
with its totals. What a client sees is computed from the published cells and totals alone, in the database for
clients: so a plain statement reveals what its cells reveal, and nothing else.

A count adds up several cells. It is shown in two cases, which both follow from what is published:

- the published cells of its group add up to the published total of the group: then nothing of it is hidden,
  and cells that are not there have nobody;
- the filter lists its values (=, IN), and each is published.

Else it is NULL, whether the rest is hidden or has nobody: which of both must not be told. Groups without a
published cell are one last row of NULLs together. Where only records are counted, a band of one column is a
column of these cells (see derived_columns.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters import quoted, sql_text
from reid_sql.serve.catalogue import ServedColumn
from reid_sql.serve.derived_columns import Derivation, DerivedColumn
from reid_sql.serve.filters import Filter
from reid_sql.serve.limits import limit_shown
from reid_sql.serve.tree import (
    AGGREGATES,
    COUNTS,
    OTHER_AGGREGATES,
    SUMS,
    Node,
    aggregates_in,
    arguments_of,
    columns_in,
    name_of,
    replaced,
    spliced,
    written,
)

IsWhole: TypeAlias = Callable[[str, Sequence[str]], bool]


@dataclass
class PlainSelect:
    """One SELECT of a served table on its way to a SELECT from cells.

    `parse` reads SQL as a tree, `write` writes a tree, `compute` computes constants, and `ask` adds a call of
    safe_table with its arguments and returns the number of its answer. `is_whole` says whether all cells by
    some columns are known to clients. Cells of people are not added up, as a person may be in several.
    """

    node: Node
    table: str
    aliases: Sequence[str]
    columns: Mapping[str, ServedColumn]
    parse: Callable[[str], Node]
    write: Callable[[Node], str]
    compute: Callable[[Sequence[Node]], Sequence[Any]]
    ask: Callable[[Mapping[str, Any], tuple[DerivedColumn, ...]], int]
    is_whole: IsWhole
    counts_people: bool = False  # who may have several rows, and be in several cells
    groups: list[Node] = field(default_factory=list)
    figures: list[Node] = field(default_factory=list)  # aggregates, each once
    derived: dict[str, DerivedColumn] = field(default_factory=dict)  # by their names

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
        having = self._replaced(self._unnamed(self.node["having"]))
        cells = self._cells(where)
        # not by OR: with a condition of ORs within, DuckDB would read one OR of three
        template = self.parse(
            "SELECT 1 FROM (SELECT 1) AS cells WHERE CASE WHEN reid_hidden THEN true ELSE reid_having END"
        )
        subquery = {**template["from_table"]["subquery"], "node": cells}
        outer["from_table"] = {**template["from_table"], "subquery": subquery}
        condition = spliced(template["where_clause"], {"reid_having": having or {}})
        outer["where_clause"] = condition if having else None
        return limit_shown(outer, self.parse, self.compute) if self.groups else outer

    def _refuse_parts(self) -> None:
        """Refuse what is not groups, counts and sums, and name the question that answers."""
        example = f"SELECT {self._example()}, count(*) FROM {quoted(self.table)} GROUP BY ALL"
        sets = self.node["group_sets"]
        if sets and sets != [list(range(len(self.node["group_expressions"])))]:
            raise OutOfDomainError(
                "groups must be of the same columns, got several sets of them; "
                "ask for each with its own GROUP BY"
            )
        if any(each["type"] == "DISTINCT_MODIFIER" for each in self.node["modifiers"]):
            raise OutOfDomainError(
                f"values must be counted, got DISTINCT, which lists rare ones; write {example}"
            )
        self._refuse_aggregates(example)
        is_grouped = self.node["group_expressions"] or self.node["aggregate_handling"] != (
            "STANDARD_HANDLING"
        )
        if not is_grouped and not any(
            aggregates_in(each) for each in (*self.node["select_list"], self.node["having"])
        ):
            raise OutOfDomainError(
                f"a statement must count the records of a table, got one that reads them; write {example}"
            )

    def _refuse_aggregates(self, example: str) -> None:
        orders = [each.get("orders", []) for each in self.node["modifiers"]]
        for each in aggregates_in([self.node["select_list"], self.node["having"], orders]):
            name = name_of(each)
            if name in OTHER_AGGREGATES:
                raise OutOfDomainError(
                    f"a figure must be count(*), sum or avg, got {name}, which can show the value of one record; "
                    f"count the values: {example}"
                )
            if each.get("filter"):
                raise OutOfDomainError(
                    f"{name} must have no FILTER, got one; write the condition after WHERE"
                )

    def _example(self) -> str:
        named = [self._find(each) for each in columns_in(self.node)]
        return quoted(next(filter(None, [*named, *self.columns]), "c"))

    def _find(self, name: str) -> str | None:
        return next((each for each in self.columns if each.casefold() == name.casefold()), None)

    def _group_expressions(self) -> list[Node]:
        if self.node["group_expressions"]:
            return list(self.node["group_expressions"])
        if self.node["aggregate_handling"] == "STANDARD_HANDLING":
            return []
        return [
            each for each in self.node["select_list"] if not aggregates_in(each)
        ]  # GROUP BY ALL

    def _group(self, part: Node) -> Node:
        """Resolve the number of a column of the answer, or its name."""
        if part["type"] == "VALUE_CONSTANT":
            [place] = self.compute([part])
            if isinstance(place, int) and 0 < place <= len(self.node["select_list"]):
                part = self.node["select_list"][place - 1]
        elif part["type"] == "COLUMN_REF" and self._find(part["column_names"][-1]) is None:
            part = self._find_alias(part) or part
        return {**part, "alias": ""}

    def _find_alias(self, part: Node) -> Node | None:
        """Find the expression of the answer that has this name, where no column of the table has it."""
        name = str(part["column_names"][-1]).casefold()
        if self._find(name) is not None:
            return None
        listed = self.node["select_list"]
        return next((each for each in listed if str(each.get("alias")).casefold() == name), None)

    def _unnamed(self, tree: Node | None) -> Any:  # noqa: ANN401 - a part of a tree, or none
        """Write expressions of the answer in place of their names."""

        def expression(part: Node) -> Node | None:
            named = self._find_alias(part) if part.get("type") == "COLUMN_REF" else None
            return named and {**named, "alias": ""}

        return replaced(tree, expression)

    def _bare(self, tree: Any) -> Any:  # noqa: ANN401 - any part of a tree
        """Name the columns without their table, as the table has them."""

        def bare(part: Node) -> Node | None:
            if part.get("type") == "SUBQUERY":
                raise OutOfDomainError(
                    "a condition must be of columns and constants, got a subquery; write its values"
                )
            is_column = part.get("type") == "COLUMN_REF"
            return {**part, "column_names": [self._column(part)]} if is_column else None

        return replaced(tree, bare)

    def _has_fields(self, name: str) -> bool:
        column = self._find(name)
        return column is not None and self.columns[column].has_fields

    def _column(self, part: Node) -> str:
        *places, name = part["column_names"]
        column = self._find(name)
        called = map(str.casefold, (self.table, *self.aliases))
        is_here = not places or str(places[-1]).casefold() in called
        # `p.age` is a field of a column p, where the table that is called p is one of another place
        is_here &= not any(self._has_fields(str(each)) for each in places)
        if column is None or not is_here:
            raise UnknownNameError(
                f"a column must be one of {self.table}, got '{'.'.join([*places, name])}'; "
                f"{suggestion(name, list(self.columns), 'columns')}"
            )
        return column

    def _selected(self, part: Node) -> Node:
        """Replace a column of the answer, which keeps the name that it would have."""
        alias = part.get("alias") or (
            part["column_names"][-1]
            if part["type"] == "COLUMN_REF"
            else self.write({**part, "alias": ""})
        )
        whole = self._replaced(part)
        figures = {self._figure(each) for each in aggregates_in(part)}
        if columns_in(whole) and whole["type"] != "COLUMN_REF":
            # else greatest(count(*), 5) were 5 of a hidden group, and coalesce(region, 'none') a group
            hidden = " OR ".join(
                ["reid_hidden", *(f"reid_{each} IS NULL" for each in sorted(figures))]
            )
            sql = f"SELECT CASE WHEN {hidden} THEN NULL ELSE reid_whole END"
            whole = spliced(self.parse(sql)["select_list"][0], {"reid_whole": whole})
        return {**whole, "alias": alias}

    def _replaced(self, tree: Any) -> Any:  # noqa: ANN401 - any part of a tree
        """Replace groups and aggregates by the columns of the cells that have them."""
        shapes = [written(each) for each in self.groups]

        def of_cells(part: Node) -> Node | None:
            if part.get("type") == "VALUE_CONSTANT":
                return part
            if name_of(part) in AGGREGATES:
                return self._reference(f"reid_{self._figure(part)}", part)
            if "class" in part and not aggregates_in(part):
                shape = written({**self._bare(part), "alias": ""})
                if shape in shapes:
                    return self._reference(f"reid_g{shapes.index(shape)}", part)
            if part.get("type") == "COLUMN_REF":
                raise OutOfDomainError(
                    f"a column must be counted or one of GROUP BY, got '{self._column(part)}'; "
                    "add it to GROUP BY"
                )
            return None

        return replaced(tree, of_cells)

    def _reference(self, name: str, part: Node) -> Node:
        return {**self.parse(f"SELECT {name}")["select_list"][0], "alias": part.get("alias", "")}

    def _modifier(self, part: Node) -> Node:
        """Replace what an answer is ordered by, but for names and numbers of its columns."""
        aliases = {str(each.get("alias", "")).casefold() for each in self.node["select_list"]}

        def of_cells(order: Node) -> Node:
            by = order["expression"]
            names = by.get("column_names") or [""]
            is_name = len(names) == 1 and str(names[0]).casefold() in aliases - {""}
            is_all = by["type"] == "STAR"
            return (
                order
                if is_name or is_all
                else {**order, "expression": self._replaced(self._unnamed(by))}
            )

        if part["type"] != "ORDER_MODIFIER":
            return part
        return {**part, "orders": [of_cells(each) for each in part["orders"]]}

    def _figure(self, part: Node) -> int:
        """Return the place of an aggregate among those of the statement."""
        shapes = [written(each) for each in self.figures]
        bare = {**self._bare(part), "alias": ""}
        if written(bare) in shapes:
            return shapes.index(written(bare))
        self.figures.append(bare)
        return len(shapes)

    def _cells(self, where: Node | None) -> Node:
        """Write the SELECT of the groups from published cells, with a last row where some are hidden."""
        groups = self.groups
        # Sums of bands subtract to sums of few people, of whom one may have most; and of people with several
        # rows, cells are no parts of a whole.
        # And where all cells are known, expressions are computed from them, as DuckDB does.
        if (
            not self._may_be_in_several_cells()
            and not self._asks_for_sums()
            and not self.is_whole(self.table, columns_in([groups, where]))
        ):
            derivation = Derivation(self.columns, self.parse, self.write, self.compute)
            groups, where = derivation.derive(groups, where)
            self.derived = derivation.derived
        plain = [each["column_names"][0] for each in groups if each["type"] == "COLUMN_REF"]
        columns = {**self.columns, **dict.fromkeys(sorted(self.derived), ServedColumn("BOOLEAN"))}
        # in the order of the table, so that the same cells answer each order and each filter
        named_columns = {*plain, *columns_in([groups, where])}
        by = [name for name in columns if name in named_columns]
        counts = {
            place: self._call(each, by)
            for place, each in enumerate(self.figures)
            if name_of(each) in COUNTS
        }
        # which groups are shown is decided by counts
        counted = next(iter(counts.values()), None) or self._call(None, by)
        calls = [
            counts.get(place) or self._call(each, by) for place, each in enumerate(self.figures)
        ]
        values = {f"reid_group_{place}": each for place, each in enumerate(groups)}
        if not by and where is not None:
            raise OutOfDomainError("a condition must name a column, got a constant; omit it")
        if not by:
            shown = ", ".join(
                f"{_figure_of_all(number, figure)} AS reid_{place}"
                for place, (number, figure) in enumerate(calls)
            )
            tables = ", ".join(f"reid_answer_{number}" for number, _ in calls)
            return self.parse(f"SELECT {shown}, false AS reid_hidden FROM {tables}")
        has_expressions = len(plain) < len(groups)
        named = Filter(columns, self.compute)
        number = None if has_expressions else named.number_of_cells(where, plain)
        if number != 1 and self._may_be_in_several_cells():
            number = None
        cells = _Cells(by, list(dict.fromkeys(plain)), calls, counted[0], len(self.groups), number)
        template = self.parse(cells.write())
        true = self.parse("SELECT true")["select_list"][0]
        return spliced(template, {**values, "reid_where": where or true})

    def _call(self, figure: Node | None, by: Sequence[str]) -> tuple[int, str]:
        """Ask for the cells of a figure; returns the number of the answer and the figure's expression."""
        arguments: dict[str, Any] = {"tbl": self.table, "by": list(by)}
        name = name_of(figure) if figure else "count_star"
        of = [each for _, each in arguments_of(figure)] if figure else []
        column = of[0]["column_names"][0] if of and of[0]["type"] == "COLUMN_REF" else None
        is_distinct = bool(figure and figure.get("distinct"))
        if name in SUMS:
            arguments["value"] = self._summed(name, column, is_distinct=is_distinct)
            return self._ask(arguments), "sum" if name == "sum" else "avg"
        if is_distinct:
            arguments["entity"] = self._argument(name, column)
        else:
            self._refuse_no_records(of, column)
        if by and not self._may_be_in_several_cells():  # else cells do not add up to totals
            arguments["totals"] = "margins"
        return self._ask(arguments), "count"

    def _ask(self, arguments: Mapping[str, Any]) -> int:
        derived = [self.derived[name] for name in arguments["by"] if name in self.derived]
        return self.ask(arguments, tuple(derived))

    def _summed(self, name: str, column: str | None, *, is_distinct: bool) -> str:
        """The column that is added up; an average needs a value in each record."""
        summed = self._argument(name, column)
        if is_distinct:
            raise OutOfDomainError(
                f"{name} must be of all values of a group, got DISTINCT ones; omit DISTINCT"
            )
        if name != "sum" and self.columns[summed].has_nulls:
            raise OutOfDomainError(
                f"{name} must be of a column with a value in each record, got {column}; ask for sum({quoted(summed)}) and count(*)"
            )
        return summed

    def _refuse_no_records(self, of: Sequence[Node], column: str | None) -> None:
        """Refuse to count what may have no value; count(1) counts records, as a whole column does."""
        if column is not None and self.columns[column].has_nulls:
            raise OutOfDomainError(
                f"count must be of records, got those with a value in {column}; write count(*), and GROUP BY {column} IS NULL"
            )
        if not of or column is not None:
            return
        if of[0]["type"] != "VALUE_CONSTANT" or self.compute(of[:1]) == (None,):
            raise OutOfDomainError(
                "count must be of records, got an expression that may have no value; write count(*), and the condition after WHERE"
            )

    def _asks_for_sums(self) -> bool:
        return any(name_of(each) in SUMS for each in self.figures)

    def _may_be_in_several_cells(self) -> bool:
        return self.counts_people or any(each.get("distinct") for each in self.figures)

    def _argument(self, name: str, column: str | None) -> str:
        if column is None:
            raise OutOfDomainError(
                f"{name} must be of a column, got an expression; name the column"
            )
        return column


@dataclass(frozen=True)
class _Cells:
    """The cells of a statement: the columns `by`, of which some are `plain` groups.

    `calls` are the answer's number and the figure of each aggregate, `counted` the answer that has all counts
    with their totals, `groups` how many groups there are, and `number` how many cells of a group the filter
    names one by one.
    """

    by: Sequence[str]
    plain: Sequence[str]
    calls: Sequence[tuple[int, str]]
    counted: int
    groups: int
    number: int | None

    def write(self) -> str:
        """Write the SELECT of groups, with names in place of the client's expressions.

        `reid_complete` says that the cells of a plain group add up to its total, and `reid_every` that all of
        them add up to everybody.
        """
        total = ", ".join(sql_text(name) for name in self.by if name not in self.plain)
        everybody = ", ".join(map(sql_text, self.by))
        is_all = "coalesce((SELECT reid_every FROM everybody), false)"
        groups = "".join(f"{quoted(name)}, " for name in self.plain)
        named = "".join(f"reid_group_{place} AS reid_g{place}, " for place in range(self.groups))
        grouped = ", ".join(f"reid_group_{place}" for place in range(self.groups))
        hidden = "NULL, " * (self.groups + len(self.calls))
        last = f" UNION ALL SELECT {hidden}true AS reid_hidden WHERE NOT {is_all}"
        return f"""WITH cells AS (SELECT {self._columns()} {self._tables()}),
            wholes AS (SELECT {groups}records AS reid_whole FROM reid_answer_{self.counted}
                WHERE total_over = [{total}]::VARCHAR[]),
            everybody AS (SELECT coalesce((SELECT sum(reid_records) FROM cells) = records, false) AS reid_every
                FROM reid_answer_{self.counted} WHERE total_over = [{everybody}]),
            summed AS (SELECT {groups}sum(reid_records) AS reid_sum FROM cells
                {"GROUP BY ALL" if groups else ""}),
            complete AS (SELECT s.*, coalesce(s.reid_sum = w.reid_whole, false) AS reid_complete
                FROM summed AS s LEFT JOIN wholes AS w ON {_same("s", "w", self.plain)}),
            judged AS (SELECT c.*, k.reid_complete
                FROM cells AS c JOIN complete AS k ON {_same("c", "k", self.plain)})
            SELECT {named}{self._figures(is_all)}false AS reid_hidden FROM judged WHERE reid_where
            {f"GROUP BY {grouped}{last}" if self.groups else ""}"""

    def _columns(self) -> str:
        columns = [f"a{self.counted}.{quoted(name)}" for name in self.by]
        columns.append(f"a{self.counted}.records AS reid_records")
        for place, (number, figure) in enumerate(self.calls):
            value = "records" if figure == "count" else "value_sum"
            columns.append(f"a{number}.{value} AS reid_value_{place}")
            columns.append(f"a{number}.records AS reid_records_{place}")
        return ", ".join(columns)

    def _tables(self) -> str:
        counted = f"a{self.counted}"
        joined = "".join(
            f" LEFT JOIN {_cells_of(number)} ON {_same(counted, f'a{number}', self.by)}"
            for number in dict.fromkeys(number for number, _ in self.calls)
            if number != self.counted
        )
        return f"FROM {_cells_of(self.counted)}{joined}"

    def _figures(self, is_all: str) -> str:
        is_complete = "bool_and(reid_complete)" if self.groups else is_all
        is_listed = "" if self.number is None else f" OR count(*) = {self.number}"
        return "".join(
            _shown(place, figure, f"{is_complete}{is_listed}")
            for place, (_, figure) in enumerate(self.calls)
        )


def _cells_of(number: int) -> str:
    return f"(FROM reid_answer_{number} WHERE len(total_over) = 0) AS a{number}"


def _figure_of_all(number: int, figure: str) -> str:
    answer = f"reid_answer_{number}"
    figures = {"count": "records", "sum": "value_sum", "avg": f"value_sum / {answer}.records"}
    return f"{answer}.{figures[figure]}"


def _shown(place: int, figure: str, is_shown: str) -> str:
    """Write a figure of a group, and NULL where one of its cells is hidden."""
    value = f"sum(reid_value_{place})"
    if figure == "count":
        value = f"coalesce({value}, 0)::BIGINT"
    elif figure == "avg":
        value += f" / sum(reid_records_{place})"
    whole = f"count(reid_records_{place}) = count(*)"
    return f"CASE WHEN {whole} AND ({is_shown}) THEN {value} END AS reid_{place}, "


def _same(one: str, other: str, columns: Sequence[str]) -> str:
    named = dict.fromkeys(map(quoted, columns))
    return " AND ".join(f"{one}.{c} IS NOT DISTINCT FROM {other}.{c}" for c in named) or "true"
