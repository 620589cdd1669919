"""What an answer may show: no group and no cell of few people, by a policy, and by what was published."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.check.policy_model import Policy
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import quoted
from reid_sql.serve.allowed import TABLE_FUNCTIONS
from reid_sql.serve.audited_counts import REFUSAL_REVEALING, TOTAL, Counts, RevealingError
from reid_sql.serve.calls import Call
from reid_sql.serve.conditions import refuse_narrow_bands, refuse_near_conditions
from reid_sql.serve.derived_columns import RELATION, add_derived, name_bases
from reid_sql.serve.determined_columns import name_value
from reid_sql.serve.hidden_sums import (
    PUBLISHED,
    REFUSAL_HIDDEN_SUM,
    join_hidden_cells,
    refuse_narrow_values,
)
from reid_sql.serve.linked_sums import LARGEST_CONTRIBUTOR, refuse_linked_sums
from reid_sql.serve.masked_answers import Masking, drop_undeclared, find_few_values, mask_answer
from reid_sql.serve.record import (
    MAX_CELLS,
    READ,
    PublishedCell,
    Record,
    Reveal,
    Shape,
    ask,
    count_of_people,
    read_rows,
)
from reid_sql.serve.settings import (
    MASKED_FUNCTIONS,
    SAFE_TABLE,
    columns_of,
    fold,
    listed,
    set_by_policy,
    set_people,
)

DEFAULT_MASK: Final = 10  # as in a policy without `mask_below`
ONLY_SAFE: Final = {"suppress": "secondary", "zeros": "omit"}
WEAKENING: Final = "protection dominance p_percent base output levels tables published"  # a rule
NOT_TO_GIVE: Final = (*ONLY_SAFE, *WEAKENING.split())
NOT_TO_PUBLISH: Final = ("unsafe", "status", "loss", "largest_share")  # columns of safe_table


def groups_of(call: Call) -> list[str]:
    """Return the columns whose values an answer names."""
    roles = {parameter.name: parameter.domain.role for parameter in call.function.parameters}
    is_groups = roles.get("by") == "groups" or call.function.name == SAFE_TABLE
    return listed(call.arguments.get("by")) if is_groups else []


MAX_WHOLE_CELLS: Final = 200  # that an audit takes into account as if they were shown
MARGINS: Final = "margins"
VALUE: Final = "value"  # NULL is a value like any other
EVERYBODY: Final = "reid_everybody"  # a column of one value
BEFORE: Final = "reid_before"  # the cells that were answered before


def ask_cells(
    data: duckdb.DuckDBPyConnection, arguments: Mapping[str, Any], earlier: Sequence[PublishedCell]
) -> pa.Table:
    """Call safe_table so that nothing hidden follows for whoever knows how many people there are.

    The cells are protected as in a table with its totals, of which the rows that were asked for are returned.
    What was answered before of some of the columns is known, and what was hidden stays so.
    """
    by, totals = listed(arguments["by"]), arguments.get("totals") or "none"
    # an earlier table counts rows, as the cells do that are protected, also where people have several
    options = {"nulls": arguments["nulls"]} if arguments.get("nulls") else {}
    sizes = ask(data, "class_size_histogram", {"tbl": arguments["tbl"], "qi": by, **options})
    if sum(sizes["classes"].to_pylist()) > MAX_CELLS:
        raise OutOfDomainError(
            f"groups must be at most {MAX_CELLS:,}, got more; name fewer or coarser columns"
        )
    if max(sizes["class_size"].to_pylist(), default=0) < arguments["k"]:
        # in the words of any other refusal of the record, so that nobody is told how small all groups are
        raise RevealingError(REFUSAL_REVEALING.format(arguments["k"]))
    refuse_narrow_values(data, arguments)
    everybody = PublishedCell({}, sum(sizes["records"].to_pylist()))
    _register_published(data, arguments["tbl"], by, [*earlier, everybody])
    answer = ask(data, SAFE_TABLE, {**arguments, "totals": MARGINS, "published": [BEFORE]})
    over = answer["total_over"].to_pylist()
    ends = [by[place:] for place in range(len(by) + 1)]
    shown = {"none": [[]], "rollup": ends}.get(totals, over)
    return answer.filter(pa.array([each in shown for each in over]))


def _drop_nearly_all(
    data: duckdb.DuckDBPyConnection, arguments: Mapping[str, Any], cells: pa.Table
) -> pa.Table:
    """Drop a cell of all people but a few, who may be in no other one where people have several rows."""
    [everybody] = _ask_total(data, arguments)["people"].to_pylist()
    rests = [everybody - each for each in cells["people"].to_pylist()]
    return cells.filter(pa.array([not 0 < rest < arguments["k"] for rest in rests], pa.bool_()))


def _register_published(
    data: duckdb.DuckDBPyConnection, table: str, by: Sequence[str], cells: Iterable[PublishedCell]
) -> None:
    """Register cells as a published table; a value that its text does not give back is left out."""
    columns = ", ".join(quoted(name) for name in by)
    types = data.sql(f"SELECT {columns} FROM {quoted(table)} LIMIT 0").types
    cells = list(cells)
    texts = {
        f"c{place}": pa.array([cell.values.get(name.casefold()) for cell in cells], pa.string())
        for place, name in enumerate(by)
    }
    totals = [[name for name in by if name.casefold() not in cell.values] for cell in cells]
    counts = pa.array([cell.count for cell in cells], pa.int64())
    data.register(READ, pa.table(texts | {"total_over": totals, "records": counts}))
    typed = ", ".join(
        f"TRY_CAST({text} AS {kind}) AS {quoted(name)}"
        for text, kind, name in zip(texts, types, by, strict=True)
    )
    same = " AND ".join(
        f"({text} IS NULL) = (TRY_CAST({text} AS {kind}) IS NULL)"
        for text, kind in zip(texts, types, strict=True)
    )
    published = data.sql(f"SELECT {typed}, total_over, records FROM {READ} WHERE {same}")
    data.register(BEFORE, published.to_arrow_table())


def _ask_total(data: duckdb.DuckDBPyConnection, arguments: Mapping[str, Any]) -> pa.Table:
    """Count all people of a table, of which there must be more than the mask hides."""
    people = count_of_people(arguments.get("entity"))
    table = f"memory.main.{quoted(arguments['tbl'])}"
    total: pa.Table = data.sql(
        f"SELECT []::VARCHAR[] AS total_over, {people} AS records, {people} AS people FROM {table}"
    ).to_arrow_table()
    number = total.column("people")[0].as_py()
    if number is None or number < arguments["k"]:
        entity = arguments.get("entity")
        by, remedy = (f" by {entity}", "write count(*)") if entity else ("", "ask the owner")
        raise OutOfDomainError(
            f"a table must have at least {arguments['k']} people to be counted, got fewer{by}; {remedy}"
        )
    return total


class Mask:
    """Answers calls without figures of groups and cells of few records, or of people.

    Together the answers reveal no such group either, as a record of them proves. A policy sets which
    functions answer, of which columns, with which parameters, and whom they count; small counts are masked.
    """

    def __init__(self, policy: Policy | None = None, record: Record | None = None) -> None:
        """Remember the policy, and the record of what left."""
        self.below = policy.mask_below if policy else DEFAULT_MASK
        self.tables = {table.name.casefold(): table for table in (policy.tables if policy else ())}
        self.record = record or Record()
        checks = [check for table in self.tables.values() for check in table.checks]
        functions = MASKED_FUNCTIONS.union(check.measure.function for check in checks)
        self.functions = functions if policy else TABLE_FUNCTIONS
        for table in self.tables.values():
            if table.missing:
                raise UnavailableError(
                    f"a policy that is served must have no missing-value codes, got some of {table.name}; "
                    "serve a view in which they are NULL"
                )

    @property
    def of_people(self) -> list[str]:
        """The tables whose policy counts people, who may have several rows."""
        return [name for name, table in self.tables.items() if table.entity is not None]

    def ask(
        self, data: duckdb.DuckDBPyConnection, call: Call, recorded: list[Reveal] | None = None
    ) -> pa.Table:
        """Call a function where the data is, record what its answer reveals, and mask it.

        What was recorded is added to the list.
        """
        # two clients may not ask for two conditions at once
        with self.record.lock if call.derived else nullcontext():
            return self._ask(data, call, recorded)

    def _ask(
        self, data: duckdb.DuckDBPyConnection, call: Call, recorded: list[Reveal] | None
    ) -> pa.Table:
        arguments, by = self._settings(call), groups_of(call)
        if call.derived:
            [table] = call.tables
            source = add_derived(f"memory.main.{quoted(table)}", call.derived)
            data.execute(f"CREATE OR REPLACE TEMP VIEW {RELATION} AS FROM {source}")
            refuse_narrow_bands(data, call.derived, self.below)
            before = self.record.list_derived(table)
            refuse_near_conditions(data, call.derived, before, self.below)
            arguments |= {"tbl": RELATION, "by": by}
        is_cells = call.function.name == SAFE_TABLE and "tbl" in arguments
        if is_cells and not by:
            return self._answer_total(data, call, arguments, recorded)
        earlier = self._list_earlier(call.tables[0], arguments, by) if is_cells else []
        try:
            answer, reveals = self._answer(data, call, arguments, earlier)
        except RevealingError:  # another choice of hidden cells may reveal nothing
            if not earlier:
                raise
            answer, reveals = self._answer(data, call, arguments, [])
        if recorded is not None:
            recorded += reveals
        # not which other cells there are, nor the rows of people
        if call.function.name == SAFE_TABLE:
            answer = answer.filter(pc.field("status") == PUBLISHED).drop_columns(
                list(NOT_TO_PUBLISH)
            )
            answer = answer.set_column(
                answer.column_names.index("records"), "records", answer["people"]
            )
            if arguments.get("entity"):
                answer = _drop_nearly_all(data, arguments, answer)
        if not self.tables:
            return drop_undeclared(answer, call.function.key, len(by))
        records = max((self._count_records(data, table) for table in call.tables), default=0)
        few = find_few_values(data, call.function, arguments, len(by), self.below)
        masking = Masking(call.function.key, self.below, records, few)
        return mask_answer(answer, read_rows(data, answer, len(by)), masking, len(by))

    def _answer(
        self,
        data: duckdb.DuckDBPyConnection,
        call: Call,
        arguments: dict[str, Any],
        earlier: Sequence[PublishedCell],
    ) -> tuple[pa.Table, list[Reveal]]:
        """Call the function, and record what its answer reveals."""
        if call.function.name != SAFE_TABLE or "tbl" not in arguments:
            answer = ask(data, call.function.name, arguments)
            return answer, self._publish(data, call, arguments, answer)
        is_sum = arguments.get("value") is not None
        if is_sum:
            arguments["dominance"] = LARGEST_CONTRIBUTOR
        answer = ask_cells(data, arguments, earlier)
        with ExitStack() as stack:
            if is_sum:
                by = fold(listed(arguments["by"]))
                sums = self.record.add_sum(data, arguments["tbl"], by, arguments["value"])
                before = join_hidden_cells(data, arguments, answer, stack.enter_context(sums))
                refuse_linked_sums(data, arguments, before)
            return answer, self._publish(data, call, arguments, answer)

    def _answer_total(
        self,
        data: duckdb.DuckDBPyConnection,
        call: Call,
        arguments: dict[str, Any],
        recorded: list[Reveal] | None,
    ) -> pa.Table:
        """Count everybody, which is no secret, but another table may lack a few of them."""
        total = _ask_total(data, arguments)
        if not arguments.get("entity") and not arguments.get("nulls"):
            counts = {TOTAL: total["people"][0].as_py()}
            table, people, no_columns = call.tables[0], (None, VALUE), fold(())
            reveal = Reveal(
                table, people, "count of all", Shape.CELLS, no_columns, no_columns, counts
            )
            self.record.add(data, [reveal], self.below)
            if recorded is not None:
                recorded.append(reveal)
        return self._add_sum_of_all(data, arguments, total) if "value" in arguments else total

    def _add_sum_of_all(
        self, data: duckdb.DuckDBPyConnection, arguments: dict[str, Any], total: pa.Table
    ) -> pa.Table:
        """Add up a column over everybody, who are one cell."""
        refuse_narrow_values(data, arguments)
        table = f"memory.main.{quoted(arguments['tbl'])}"
        data.execute(
            f"CREATE OR REPLACE TEMP VIEW {RELATION} AS SELECT *, 0 AS {EVERYBODY} FROM {table}"
        )
        cell = {"tbl": RELATION, "by": [EVERYBODY], "dominance": LARGEST_CONTRIBUTOR}
        answer = ask(data, SAFE_TABLE, {**arguments, **cell})
        if set(answer["status"].to_pylist()) - {PUBLISHED}:
            raise OutOfDomainError(REFUSAL_HIDDEN_SUM)
        sums = self.record.add_sum(data, arguments["tbl"], frozenset(), arguments["value"])
        with sums as before:
            refuse_linked_sums(data, arguments, before)
        return total.append_column("value_sum", answer["value_sum"])

    def _list_earlier(
        self, table: str, arguments: Mapping[str, Any], by: Sequence[str]
    ) -> list[PublishedCell]:
        """List what was answered of the columns; of people with several rows, cells are no counts of rows."""
        if arguments.get("entity"):
            return []
        return self.record.list_published(table, (None, arguments.get("nulls") or VALUE), by)

    def _count_records(self, data: duckdb.DuckDBPyConnection, table: str) -> int:
        """Count the records of a table, or the people where its policy has a column of them."""
        policy = self.tables.get(table.casefold())
        people = count_of_people(policy.entity if policy else None)
        sql = f"SELECT {people} FROM memory.main.{quoted(table)}"
        return int(data.execute(sql).fetchall()[0][0])

    def _settings(self, call: Call) -> dict[str, Any]:
        """Return the arguments of a call, with what the policy and the rules of cells set."""
        arguments, function = dict(call.arguments), call.function
        if call.derived:  # a policy names the columns that they are computed from
            arguments["by"] = name_bases(arguments["by"], call.derived)
        if wrong := [
            name for name in NOT_TO_GIVE if function.name == SAFE_TABLE and name in arguments
        ]:
            raise OutOfDomainError(
                f"{wrong[0]} must not be given where answers leave, got it; omit it"
            )
        policies = [self.tables[name.casefold()] for name in call.tables if self.tables]
        for policy in policies[1:]:
            arguments = set_people(policy, function, arguments)
        for policy in policies[:1]:
            arguments = set_by_policy(policy, function, arguments, self.below)
        if function.name != SAFE_TABLE:
            return arguments
        if call.is_plain and arguments.get("nulls", VALUE) != VALUE:
            raise OutOfDomainError(
                f"plain SQL must count records with NULL, got a policy with nulls = '{arguments['nulls']}'; "
                "call reid.safe_table"
            )
        if (arguments.setdefault("k", self.below) or 0) < self.below:
            raise OutOfDomainError(
                f"k must be at least the mask of {self.below}, got a lower one; omit it"
            )
        return arguments | ONLY_SAFE

    def _publish(
        self,
        data: duckdb.DuckDBPyConnection,
        call: Call,
        arguments: Mapping[str, Any],
        answer: pa.Table,
    ) -> list[Reveal]:
        """Record what an answer reveals, or refuse it; where another form is answered, name that."""
        counted = [_Counted(data, call, arguments, table, self.below) for table in call.tables]
        by = groups_of(call)
        cells = [each.cells(answer, by) for each in counted if by]
        # a sum counts nobody whom its cells do not count
        figures = [
            each
            for each in counted
            if each.columns.all not in (fold(by), frozenset()) and call.function.name != SAFE_TABLE
        ]
        if self.tables:
            reveals = cells + [
                each.whole_cells() or each.figures(is_masked=True) for each in figures
            ]
            self.record.add(data, reveals, self.below)
            return reveals
        reveals = cells + [each.figures(is_masked=False) for each in figures]
        try:
            self.record.add(data, reveals, self.below)
        except OutOfDomainError:
            whole = [each.whole_cells() for each in figures]
            if not whole or None in whole:
                raise
            reveals = cells + [each for each in whole if each]
            self.record.add(data, reveals, self.below)
        return reveals


class _Counted:
    """What an answer counts of one of its tables."""

    def __init__(
        self,
        data: duckdb.DuckDBPyConnection,
        call: Call,
        arguments: Mapping[str, Any],
        table: str,
        below: int,
    ) -> None:
        self.data, self.call, self.arguments = data, call, arguments
        self.table, self.below = table, below
        columns = data.sql(f"FROM memory.main.{quoted(table)} LIMIT 0").columns
        self.derived, self.relation = call.derived, RELATION if call.derived else table
        if call.derived:
            arguments = {**arguments, "by": name_bases(arguments["by"], call.derived)}
        self.columns = columns_of(call.function, arguments, columns)
        self.counted = [name for name in columns if name.casefold() in self.columns.counted]
        self.names = [name for name in columns if name.casefold() in self.columns.all]
        self.options = {
            name: arguments[name] for name in ("entity", "nulls") if arguments.get(name)
        }
        self.people = (self.options.get("entity"), self.options.get("nulls", "value"))
        by = ", ".join(name_bases(groups_of(call), call.derived))
        self.question = f"{call.function.key} of {', '.join(self.names)}{by and f' by {by}'}"

    def cells(self, answer: pa.Table, by: Sequence[str]) -> Reveal:
        """Return the counts of groups and cells with their total; groups of few people are refused."""
        groups = self._name_cells(self._count("equivalence_classes", by), by)
        sizes = [row["class_size"] for _, row in groups]
        is_cells = "total_over" in answer.column_names
        # an answer would name their values; that one is small is not told
        if not is_cells and any(size < self.below for size in sizes):
            raise RevealingError(REFUSAL_REVEALING.format(self.below))
        if len({key for key, _ in groups}) < len(groups):
            raise OutOfDomainError(
                "groups must have values whose texts differ, got two that are written alike; "
                "cast the column in a view"
            )
        columns = ["people"] if is_cells else ["records", "class_size"]
        count = next(name for name in columns if name in answer.column_names)
        counts: dict[str, int | None] = {}
        for key, row in groups if count == "class_size" else self._name_cells(answer, by):
            counts[key] = row[count] if is_cells else (counts.get(key) or 0) + row[count]
        # how many people there are is no secret
        bases = fold(name_bases(by, self.derived))
        return self._reveal(Shape.CELLS, bases, counts | {TOTAL: sum(sizes)})

    def _name_cells(
        self, cells: pa.Table, by: Sequence[str]
    ) -> list[tuple[str, Mapping[str, Any]]]:
        """Return each row with the name of its cell."""
        named: list[tuple[str, Mapping[str, Any]]] = []
        for row in read_rows(self.data, cells, len(by)):
            total_over = row.get("total_over", [])
            shown = [name for name in [*row][: len(by)] if name not in total_over]
            cell = {name.casefold(): name_value(row[name]) for name in shown}
            named.append((json.dumps(cell, sort_keys=True), row))
        return named

    def figures(self, *, is_masked: bool) -> Reveal:
        """Return what figures of class sizes reveal; masked ones count the people of the other answers."""
        if not is_masked:
            return self._reveal(Shape.UNMASKED_FIGURES, self.columns.all, {})
        is_sizes = "class_size" in self.call.function.answer_columns
        records = sum(self._count("class_size_histogram", self.counted)["records"].to_pylist())
        shape = Shape.CLASS_SIZES if is_sizes else Shape.FIGURES
        return self._reveal(shape, self.columns.all, {TOTAL: records})

    def whole_cells(self) -> Reveal | None:
        """Return all cells of the answer's columns, if none is of few people: it reveals no more."""
        if self.arguments.get("nulls", "value") != "value" or self.arguments.get("tolerance"):
            return None
        sizes = self._count("class_size_histogram", self.names)
        classes = sum(sizes["classes"].to_pylist())
        least = min(sizes["class_size"].to_pylist(), default=0)
        if least < self.below or classes > MAX_WHOLE_CELLS:
            return None
        named = self._name_cells(self._count("equivalence_classes", self.names), self.names)
        counts: dict[str, int | None] = {key: row["class_size"] for key, row in named}
        if len(counts) < classes:
            return None
        # a person with several rows is in several classes, as in the cells of safe_table
        counts[TOTAL] = sum(filter(None, counts.values()))
        return self._reveal(Shape.CELLS, self.columns.all, counts)

    def _reveal(self, shape: Shape, columns: frozenset[str], counts: Counts) -> Reveal:
        counted = columns & self.columns.counted
        return Reveal(
            self.table, self.people, self.question, shape, counted, columns, counts, self.derived
        )

    def _count(self, function: str, columns: Sequence[str]) -> pa.Table:
        return ask(self.data, function, {"tbl": self.relation, "qi": list(columns), **self.options})
