"""What an answer may show: no group and no cell of few people, by a policy, and by what was published."""

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.check.policy_model import Policy
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import quoted, sql_literal
from reid_sql.serve.masked_answers import mask_answer
from reid_sql.serve.statement import TABLE_FUNCTIONS, Call

DEFAULT_MASK: Final = 10  # as in a policy without `mask_below`
SAFE_TABLE: Final = "safe_table"
ONLY_SAFE: Final = {"suppress": "secondary", "zeros": "omit"}
WEAKENING: Final = "protection dominance p_percent base output levels tables published"  # a rule
NOT_TO_GIVE: Final = (*ONLY_SAFE, *WEAKENING.split())
NOT_TO_PUBLISH: Final = ("unsafe", "status", "loss", "largest_share")  # columns of safe_table
Cell = frozenset[tuple[str, str]]
Counts = Mapping[str, int | None]  # by the JSON of a cell's categories, None where hidden


def groups_of(call: Call) -> list[str]:
    """Return the columns whose values an answer names."""
    roles = {parameter.name: parameter.domain.role for parameter in call.function.parameters}
    by = call.arguments.get("by") or []
    is_groups = roles.get("by") == "groups" or call.function.name == SAFE_TABLE
    return ([by] if isinstance(by, str) else list(by)) if is_groups else []


def ask(data: duckdb.DuckDBPyConnection, function: str, arguments: Mapping[str, Any]) -> pa.Table:
    """Call a function of reid-sql with values by name."""
    named = [f"{quoted(name)} := {sql_literal(value)}" for name, value in arguments.items()]
    return data.execute(f"FROM reid.{function}({', '.join(named)})").to_arrow_table()


MAX_CELLS: Final = 2_000  # of a table, which an audit takes some seconds for
PROTECTED: Final = "protected"  # what an audit finds of a cell that nobody can compute
AUDITED: Final = "reid_published"
REMEDY: Final = "ask for fewer or coarser columns"
REFUSAL_OTHER_PEOPLE: Final = (
    "an answer must count the people of the answers before, got counts that do not add up; omit entity and "
    f"nulls where those answers had none, or {REMEDY}"
)


class Record:
    """A DuckDB file of the owner's, with each count that left."""

    def __init__(self, file: str | Path = ":memory:") -> None:
        """Open the record, or begin one."""
        self._lock = threading.Lock()
        try:
            self._con = duckdb.connect(str(file))
        except duckdb.Error:
            rule = f"the record must be a DuckDB file that no other server uses, got '{file}'"
            raise UnavailableError(f"{rule}; stop that server, or name another file") from None
        self._con.execute("""CREATE TABLE IF NOT EXISTS published (
            asked_at TIMESTAMP DEFAULT current_timestamp, tbl VARCHAR, cell VARCHAR, records BIGINT)""")

    def add(
        self, data: duckdb.DuckDBPyConnection, table: str, people: str, counts: Counts, below: int
    ) -> None:
        """Record the counts of a table, unless a group below the mask follows from all that are recorded."""
        counted = f"{table} ({people})" if people else table
        with self._lock:  # two clients may not ask for two halves at once
            known: dict[str, dict[str, int | None]] = {counted: {}}
            for name, cell, count in self._con.execute(
                "SELECT tbl, cell, records FROM published"
            ).fetchall():
                known.setdefault(name, {})[cell] = count
            before = known.pop(counted)
            if _contradict(before, counts) or any(
                name.partition(" ")[0] == table for name in known
            ):
                raise OutOfDomainError(REFUSAL_OTHER_PEOPLE)
            merged = _merge(before, counts)
            new = [
                (counted, cell, count)
                for cell, count in merged.items()
                if cell not in before or count != before[cell]
            ]
            if not new:
                return
            if len(merged) > MAX_CELLS:
                rule = f"the published counts of a table must be at most {MAX_CELLS:,}, got more"
                raise UnavailableError(f"{rule}; ask the owner for a new record")
            audited = merged
            for other in known.values():
                _refuse_near(merged, other, below)
                # perhaps the same people
                if other["{}"] == merged["{}"] and not _contradict(audited, other):
                    audited = _merge(audited, other)
            _refuse_findings(data, audited, below)
            self._con.execute("BEGIN")
            self._con.executemany(
                "DELETE FROM published WHERE tbl = $1 AND cell = $2", [each[:2] for each in new]
            )
            self._con.executemany(
                "INSERT INTO published (tbl, cell, records) VALUES ($1, $2, $3)", new
            )
            self._con.execute("COMMIT")


def _contradict(one: Counts, other: Counts) -> bool:
    """Whether a cell has two counts."""
    return any(
        None not in (one.get(cell), count) and one[cell] != count for cell, count in other.items()
    )


def _merge(one: Counts, other: Counts) -> Counts:
    """Return all counts; one that is hidden in one answer may be shown in another."""
    return {**one, **{cell: count for cell, count in other.items() if one.get(cell) is None}}


def _refuse_findings(data: duckdb.DuckDBPyConnection, counts: Counts, below: int) -> None:
    """Audit all counts of a table together; whatever is not proved to be protected is refused."""
    cells = [json.loads(cell) for cell in counts]
    names = sorted({name for cell in cells for name in cell})
    columns = {
        f"c{place}": pa.array([cell.get(name) for cell in cells])
        for place, name in enumerate(names)
    }
    data.register(AUDITED, pa.table({**columns, "records": pa.array(counts.values(), pa.int64())}))
    try:
        asked = {"tables": [AUDITED], "k": below, "columns": list(columns), "base": 1}
        found = ask(data, "audit_tables", asked)
    except duckdb.InvalidInputException:
        raise OutOfDomainError(REFUSAL_OTHER_PEOPLE) from None
    findings = zip(found["finding"].to_pylist(), found["status"].to_pylist(), strict=True)
    if any(each != PROTECTED or status.startswith("bounds_not_tight") for each, status in findings):
        rule = f"an answer must reveal no group of fewer than {below} with those before, got one that does"
        raise OutOfDomainError(f"{rule}; {REMEDY}")


def _refuse_near(one: Counts, other: Counts, below: int) -> None:
    """Refuse a count, or a sum of counts, near that of another table: few people would be the difference."""
    sums = [_sum_cells(one), _sum_cells(other)]
    if any(
        0 < abs(sums[0][cell] - sums[1][cell]) < below for cell in sums[0].keys() & sums[1].keys()
    ):
        rule = f"a count must differ from that of another table by 0 or at least {below}, got a nearer one"
        raise OutOfDomainError(f"{rule}; {REMEDY}")


def _sum_cells(counts: Counts) -> dict[Cell, int]:
    """Return the counts that are shown, and the totals of tables whose cells are all shown."""
    sums = {
        frozenset(json.loads(cell).items()): count
        for cell, count in counts.items()
        if count is not None
    }
    tables: dict[frozenset[str], dict[Cell, int]] = {}
    for cell, count in sums.items():
        tables.setdefault(frozenset(dict(cell)), {})[cell] = count
    for columns, cells in tables.items():
        if sum(cells.values()) == sums.get(frozenset()):
            for size in range(len(columns)):
                for names in combinations(columns, size):
                    totals: Counter[Cell] = Counter()
                    for cell, count in cells.items():
                        totals[frozenset(pair for pair in cell if pair[0] in names)] += count
                    sums.update(totals)
    return sums


# besides those of the checks
MASKED_FUNCTIONS: Final = frozenset({SAFE_TABLE, "class_size_histogram"})


class Mask:
    """Answers calls without figures of groups and cells of few records, or of people.

    Together the answers reveal no such group either, as a record of their counts proves. A policy sets which
    functions answer and whom they count, and masks every small count.
    """

    def __init__(self, policy: Policy | None = None, record: Record | None = None) -> None:
        """Remember the policy, and the record of published counts."""
        self.below = policy.mask_below if policy else DEFAULT_MASK
        self.tables = {table.name.casefold(): table for table in (policy.tables if policy else ())}
        self.record = record or Record()
        checks = [check for table in self.tables.values() for check in table.checks]
        asked = MASKED_FUNCTIONS.union(check.measure.function for check in checks)
        self.functions = asked if policy else TABLE_FUNCTIONS
        for table in self.tables.values():
            if table.missing:
                rule = f"a policy that is served must have no missing-value codes, got some of {table.name}"
                raise UnavailableError(f"{rule}; serve a view in which they are NULL")

    def ask(self, data: duckdb.DuckDBPyConnection, call: Call) -> pa.Table:
        """Call a function where the data is, and mask its answer."""
        given, by = self._settings(call), groups_of(call)
        answer = ask(data, call.function.name, given)
        if by:
            self._publish(data, call.tables[0], given, answer, by)
        # not which other cells there are, nor the rows of people
        if call.function.name == SAFE_TABLE:
            answer = answer.filter(pc.field("status") == "published").drop_columns(
                list(NOT_TO_PUBLISH)
            )
            answer = answer.set_column(
                answer.column_names.index("records"), "records", answer["people"]
            )
        if not self.tables:
            return answer
        records = max((_count_records(data, table) for table in call.tables), default=0)
        return mask_answer(answer, self.below, records, len(by))

    def _settings(self, call: Call) -> dict[str, Any]:
        """Return the arguments of a call, with what the policy and the rules of cells set."""
        given = dict(call.arguments)
        names = {parameter.name for parameter in call.function.parameters}
        for served in call.tables[:1] if self.tables else ():
            table = self.tables[served.casefold()]
            if table.entity and "entity" not in names:
                rule = f"a function must count people by '{table.entity}', got {call.function.name}"
                raise OutOfDomainError(f"{rule}, which counts rows; call one that takes entity")
            for name, due in (("entity", table.entity), ("nulls", table.nulls)):
                if name in names and given.setdefault(name, due) != due:
                    rule = f"{name} must be that of the policy, {due or 'none'}, got another"
                    raise OutOfDomainError(f"{rule}; omit it")
        if call.function.name != SAFE_TABLE:
            return given
        if wrong := [name for name in NOT_TO_GIVE if name in given]:
            raise OutOfDomainError(
                f"{wrong[0]} must not be given where answers leave, got it; omit it"
            )
        if (given.setdefault("k", self.below) or 0) < self.below:
            raise OutOfDomainError(
                f"k must be at least the mask of {self.below}, got a lower one; omit it"
            )
        return given | ONLY_SAFE

    def _publish(
        self,
        data: duckdb.DuckDBPyConnection,
        table: str,
        given: Mapping[str, Any],
        answer: pa.Table,
        by: Sequence[str],
    ) -> None:
        """Record the counts of groups and cells with their total, or refuse them."""
        options = {name: given[name] for name in ("entity", "nulls") if given.get(name)}
        groups = ask(data, "equivalence_classes", {"tbl": table, "qi": by, **options})
        sizes = groups["class_size"].to_pylist()
        is_cells = "total_over" in answer.column_names
        # an answer would name their values
        if not is_cells and any(size < self.below for size in sizes):
            rule = f"by must make groups of at least {self.below} records, got a smaller one"
            raise OutOfDomainError(f"{rule}; name fewer or coarser columns")
        count = (
            "people"
            if is_cells
            else "records"
            if "records" in answer.column_names
            else "class_size"
        )
        counts: dict[str, int | None] = {"{}": sum(sizes)}
        for row in (groups if count == "class_size" else answer).to_pylist():
            values = list(row.items())[: len(by)]
            cell = {
                name.casefold(): repr(each)
                for name, each in values
                if name not in row.get("total_over", [])
            }
            key = json.dumps(cell, sort_keys=True)
            counts[key] = row[count] if is_cells else (counts.get(key) or 0) + row[count]
        people = ", ".join(
            f"{name} := {value}" for name, value in options.items() if value != "value"
        )
        self.record.add(data, table, people, counts, self.below)


def _count_records(data: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(data.execute(f"SELECT count(*) FROM memory.main.{quoted(table)}").fetchall()[0][0])
