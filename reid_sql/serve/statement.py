"""Read a client's statement: it may select from answers of reid-sql, and from nothing else.

DuckDB parses the text. Each part of the tree must be in allowed.toml. A call becomes values: the name of a
function, names of served tables, constants. Nothing else of a client reaches the data but expressions of one
column, whose parts are on a shorter list (see bands.py); DuckDB writes them anew.
"""

import json
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import duckdb

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.function import Function, output_of
from reid_sql.serve.allowed import (
    ALLOWED,
    CATALOGUE,
    CATALOGUE_FUNCTIONS,
    PLACES,
    REMEDY,
    TABLE_FUNCTIONS,
    check_function,
    check_type,
    refuse_records,
    refuse_unknown,
)
from reid_sql.serve.calls import Arguments, Call, describe_calls
from reid_sql.serve.catalogue import HELP, Columns, write_help
from reid_sql.serve.derived_columns import DerivedColumn
from reid_sql.serve.inlined_selects import reads_columns, replace_table
from reid_sql.serve.plain_aggregates import IsWhole, PlainSelect
from reid_sql.serve.tree import (
    AGGREGATES,
    Node,
    arguments_of,
    document_of,
    name_of,
    named_queries,
    parts_of,
    path_of,
    shape_of,
    without_places,
)
from reid_sql_udfs import declared

MAX_CHARACTERS: Final = 20_000  # of a statement
MAX_CALLS: Final = 16  # of a statement
MAX_REMEMBERED: Final = 256  # statements that are not read again
ANSWER: Final = "reid_answer_"  # before the number of an answer
REFUSAL_NO_SELECT: Final = (
    f"a statement must be one SELECT without parameters, got another; {REMEDY}"
)
WRITE: Final = """SELECT written, json_serialize_sql(written), json_deserialize_sql($2::JSON)
    FROM (SELECT json_deserialize_sql($1::JSON) AS written)"""
COMPUTE: Final = "FROM json_execute_serialized_sql($1::JSON)"
CONSTANT_NAME: Final = "constant"
CONSTANT: Final = {  # in place of one, where a statement is logged
    "class": "COLUMN_REF",
    "type": "COLUMN_REF",
    "query_location": 0,
    "column_names": [CONSTANT_NAME],
}


def _is_unknown(_table: str, _by: Sequence[str]) -> bool:
    return False


@dataclass(frozen=True)
class Question:
    """A statement that may be answered: its calls, and the SELECT from their answers by number."""

    calls: tuple[Call, ...]
    select: str
    shape: str = ""  # the client's SELECT without its constants
    is_catalogue: bool = False  # whether it reads names and types of the tables alone
    binds: tuple[str, ...] = ()  # the client's SELECTs of served tables alone, as they must bind


class Reader:
    """Reads statements about the served tables, in a database of its own that contains nothing."""

    def __init__(
        self,
        tables: Collection[str],
        functions: Collection[str] = TABLE_FUNCTIONS,
        columns: Columns | None = None,
        of_people: Collection[str] = (),
        cautions: Mapping[str, str] | None = None,
    ) -> None:
        """Open the parser; names of tables are compared without regard to case, as DuckDB does.

        `columns` are those of each table that may be counted by plain SQL, and `of_people` the tables whose
        policy counts people, who may have several rows. `cautions` says of a table that its rows may not be
        people.
        """
        self.cautions = cautions or {}
        self.of_people = frozenset(map(str.casefold, of_people))
        self.tables = {name.casefold(): name for name in tables}
        self.columns = columns or {}
        self.columns_folded = frozenset(map(str.casefold, self.columns))
        self.functions = frozenset(functions)
        self._lock = threading.Lock()
        self._parser = duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
        self._one = self.parse("SELECT 1")
        self._from = json.dumps(self.parse(f"FROM {ANSWER}")["from_table"])
        self._constant_answers = {
            shape_of(self.parse(each["asks"])): each["answer"] for each in ALLOWED["attach"]
        }
        help_of_tables = write_help(self.columns, sorted(self.functions), self.cautions)
        self._constant_answers[shape_of(self.parse(HELP))] = help_of_tables
        self.read = lru_cache(MAX_REMEMBERED)(self._read)

    def _read(self, sql: str, client: str = "", is_whole: IsWhole = _is_unknown) -> Question:
        """Read a statement, or refuse it in one sentence; each client has fitted models of its own.

        It is read once. Once more cells are whole (`is_whole`), a second reading could show what the first
        one hid, and no other count.
        """
        try:
            node = self.parse(sql)
            if constant := self._constant_answers.get(shape_of(node)):
                return Question((), constant, self.write(node)[1])
            if _reads_catalogue(self, node):
                return Question((), *self.write(node), is_catalogue=True)
            return _Statement(self, node, client, is_whole).question()
        except RecursionError:
            raise OutOfDomainError(
                f"a statement must be simpler, got a deep one; {REMEDY}"
            ) from None
        except duckdb.Error:
            raise OutOfDomainError(
                f"a statement must be one that DuckDB writes as it reads it, got another; {REMEDY}"
            ) from None

    @property
    def words(self) -> frozenset[str]:
        """The words of SQL and of reid-sql that a statement may contain, without those of keywords."""
        outputs = [output_of(key, declared()) for key in self.functions]
        columns = [name for each in outputs for name in each.answer_columns]
        listed = f"{ALLOWED['functions']} {ALLOWED['value_functions']} {ALLOWED['types']}".lower()
        answers = [f"{ANSWER}{number}" for number in range(1, MAX_CALLS + 1)]
        called = [each.name for each in outputs]
        names = [*self.tables, *called, *columns, *listed.split(), *answers]
        return frozenset([*names, "reid", "main", CONSTANT_NAME])

    def shape(self, sql: str) -> str:
        """Write a statement that was refused without its constants; empty where it cannot be parsed."""
        try:
            return self.write(self.parse(sql))[1]
        except (OutOfDomainError, duckdb.Error, RecursionError):
            return ""

    def parse(self, sql: str) -> Node:
        """Parse a text of one SELECT without parameters."""
        _refuse_long(sql)
        try:
            return _select_of(self._run("SELECT json_serialize_sql($1::VARCHAR)", sql)[0])
        except (duckdb.Error, RuntimeError, TypeError, ValueError):  # such as half a character
            raise OutOfDomainError(REFUSAL_NO_SELECT) from None

    def write(self, node: Node) -> tuple[str, str]:
        """Write a tree as SQL, which must read as the tree, with and without its constants."""
        documents = (document_of(node), document_of(without_places(node, CONSTANT)))
        select, read, shape = self._run(WRITE, *documents)
        _refuse_long(select)
        if shape_of(_select_of(read)) != shape_of(node):
            raise OutOfDomainError(
                "a statement must have plain joins, got one whose order DuckDB writes in another way; "
                "write each join in WITH"
            )
        return str(select), str(shape)

    def compute(self, nodes: Collection[Node]) -> tuple[Any, ...]:
        """Compute constants; each has a name of its own, as equal ones would have the same."""
        named = [{**node, "alias": f"c{place}"} for place, node in enumerate(nodes)]
        select = {**self._one, "select_list": named}
        try:
            return self._run(COMPUTE, document_of(select)) if nodes else ()
        except duckdb.Error:
            raise OutOfDomainError(
                "an argument must be a constant that DuckDB can compute, got another; "
                "write the value itself"
            ) from None

    def write_table(self, number: int, alias: str) -> Node:
        """Return the part of a tree that reads an answer by its number."""
        return {**json.loads(self._from.replace(ANSWER, f"{ANSWER}{number}")), "alias": alias}

    def _run(self, sql: str, *parameters: str) -> tuple[Any, ...]:
        with self._lock:
            row: tuple[Any, ...] = self._parser.execute(sql, list(parameters)).fetchall()[0]
        return row


class _Statement:
    """One statement: its tree is checked part by part, and its calls are replaced by their answers."""

    def __init__(self, reader: Reader, node: Node, client: str, is_whole: IsWhole) -> None:
        self.reader, self.node, self.client, self.is_whole = reader, node, client, is_whole
        self.calls: list[Call] = []
        self.plain: list[str] = []  # each SELECT of a served table
        self.has_aggregates, self.has_functions = False, False
        self.named = {name.casefold() for name in named_queries(node)}
        for name in sorted(self.named):
            if name in reader.tables or name.startswith(ANSWER):
                raise OutOfDomainError(
                    f"a name in WITH must differ from the names of the tables, got '{name}'; "
                    "choose another name"
                )

    def question(self) -> Question:
        """Check and replace everything."""
        select, _ = self.reader.write(self._check(self._inline_columns()))
        if self.plain and self.has_aggregates:
            raise OutOfDomainError(
                "counts of a table must not be added up, as hidden ones would be missing, got an aggregate of them; "
                "ask for the sum with coarser groups"
            )
        statement, shape = self.reader.write(self.node)
        whole = [statement] * bool(self.plain and not self.has_functions)
        return Question(tuple(self.calls), select, shape, binds=(*self.plain, *whole))

    def _inline_columns(self) -> Node:
        """Put queries of WITH that only name columns, as `WITH t AS (FROM people)`, where they are read."""
        names = [name.casefold() for name in named_queries(self.node)]
        template = self.reader.parse("SELECT 1 FROM (SELECT 1)")["from_table"]
        node, place = self.node, 0
        while place < len(queries := node["cte_map"]["map"]):
            name, value = str(queries[place]["key"]).casefold(), queries[place]["value"]
            # DuckDB before 2.0 writes it as a subquery
            query = value.get("query_node") or value["query"]["node"]
            if not reads_columns(query) or value["aliases"] or names.count(name) > 1:
                place += 1
                continue
            others = [*queries[:place], *queries[place + 1 :]]
            table = {**template, "subquery": {**template["subquery"], "node": query}}
            node = replace_table({**node, "cte_map": {"map": others}}, name, table)
        return node

    def _check(self, part: Any) -> Any:  # noqa: ANN401 - any part of a tree
        if isinstance(part, list):
            return [self._check(each) for each in part]
        if not isinstance(part, dict):
            return part
        refuse_unknown(part)
        kind = part.get("type")
        if kind == "VALUE_CONSTANT":
            return part
        if kind == "TABLE_FUNCTION":
            self.has_functions = True
            return self._replace_call(part)
        if kind == "SELECT_NODE" and (plain := self._find_plain(part)):
            cells = self._replace_plain(*plain)
            # by itself, in which no name is of another place of the statement
            orders = [each for each in part["modifiers"] if each["type"] == "ORDER_MODIFIER"]
            alone = {**part, "cte_map": {"map": []}, "modifiers": orders}
            self.plain.append(self.reader.write(alone)[0])
            return cells
        if kind == "BASE_TABLE":
            self._check_table(part)
        elif kind == "FUNCTION":
            check_function(part)
            self.has_aggregates |= name_of(part) in AGGREGATES
        elif kind == "OPERATOR_CAST":
            check_type(part)
        return {
            key: each if key == "cast_type" else self._check(each) for key, each in part.items()
        }

    def _check_table(self, part: Node) -> None:
        name = ".".join(path_of(part, "table_name"))
        if name.casefold() not in self.named:
            raise OutOfDomainError(
                f"a statement must count groups of one table, or read it inside functions, got '{name}'; "
                f"{REMEDY}"
            )

    def _find_plain(self, part: Node) -> tuple[Node, str, list[str]] | None:
        """Find a SELECT from one served table; returns it, the table's name and what else it is called.

        `FROM (SELECT a FROM t AS u WHERE …) AS v`, as clients write it, is `FROM t AS v WHERE …`. DuckDB
        binds the client's text where the tables have no record, which refuses a name of another place.
        """
        table = part["from_table"]
        if table.get("column_name_alias"):  # other names for its columns
            return None
        if table["type"] == "SUBQUERY" and reads_columns(table["subquery"]["node"]):
            refuse_unknown(table)  # which is merged with the one within
            plain = self._find_plain(table["subquery"]["node"])
            if plain is None:
                return None
            inner, name, aliases = plain  # with the conditions of all that is within
            condition = part["where_clause"] or inner["where_clause"]
            if part["where_clause"] and inner["where_clause"]:
                both = self.reader.parse("SELECT 1 WHERE true AND true")["where_clause"]
                children = [inner["where_clause"], part["where_clause"]]
                condition = {**both, "children": children}
            table = {**inner["from_table"], "alias": table["alias"]}
            whole = {**part, "from_table": table, "where_clause": condition}
            return whole, name, [*aliases, str(table["alias"])]
        if table["type"] != "BASE_TABLE":
            return None
        *places, name = path_of(table, "table_name")
        is_here = places in ([], ["main"], ["memory", "main"]) and name.casefold() not in self.named
        served = self.reader.tables.get(name.casefold()) if is_here else None
        if served not in self.reader.columns:
            return None
        return part, str(served), [str(table["alias"] or name)]

    def _replace_plain(self, part: Node, table: str, aliases: list[str]) -> Node:
        """Write plain counts of a table as a SELECT from its cells, after all of its parts are checked."""
        refuse_unknown(part)
        refuse_unknown(part["from_table"])
        before = self.has_aggregates
        checked = {
            key: each if key == "from_table" else self._check(each) for key, each in part.items()
        }
        self.has_aggregates = before
        return PlainSelect(
            checked,
            table,
            aliases,
            self.reader.columns[table],
            self.reader.parse,
            self._write_expression,
            self.reader.compute,
            self._ask_cells,
            self.is_whole,
            counts_people=table.casefold() in self.reader.of_people,
        ).rewrite()

    def _write_expression(self, node: Node) -> str:
        """Write an expression as SQL, which names its column of the answer as DuckDB would."""
        select = {**self.reader.parse("SELECT 1"), "select_list": [node]}
        return self.reader.write(select)[0].removeprefix("SELECT ")

    def _ask_cells(self, arguments: Mapping[str, Any], derived: tuple[DerivedColumn, ...]) -> int:
        """Add a call for the cells of a table; returns the number of its answer."""
        self._refuse_many()
        table, function = str(arguments["tbl"]), declared()["safe_table"]
        self.calls.append(Call(function, arguments, (table,), is_plain=True, derived=derived))
        return len(self.calls)

    def _refuse_many(self) -> None:
        if len(self.calls) == MAX_CALLS:
            raise OutOfDomainError(
                f"a statement must have at most {MAX_CALLS} calls, got more; split it"
            )

    def _replace_call(self, part: Node) -> Node:
        """Read a call in FROM; its answer is read in its place."""
        refuse_unknown(part["function"])
        *places, name = path_of(part["function"], "function_name")
        function = self._find_function(name.lower(), is_ours=places in PLACES)
        self._refuse_many()
        arguments = Arguments(self.reader, function, self.client)
        call = arguments.read(arguments_of(part["function"]))
        self._check_output(call.function)
        self.calls.append(call)
        table = self.reader.write_table(len(self.calls), str(part.get("alias") or function.name))
        return {**table, "column_name_alias": part.get("column_name_alias", [])}

    def _find_function(self, name: str, *, is_ours: bool) -> Function:
        keys = {name}
        if is_ours and name in declared():
            keys = {each.key for each in declared()[name].all_outputs}
        if keys & TABLE_FUNCTIONS and is_ours:
            return declared()[name]
        if name in ALLOWED["refused"] and is_ours:
            refuse_records(name, name)
        nearest = suggestion(name, sorted(self.reader.functions & declared().keys()), "functions")
        raise UnknownNameError(
            f"a statement must call functions of reid-sql in FROM, got '{name}'; {nearest}"
        )

    def _check_output(self, output: Function) -> None:
        """Refuse an output that returns records, or that the policy does not use."""
        if output.key not in TABLE_FUNCTIONS:
            refuse_records(output.key, output.call)
        if output.key not in self.reader.functions:
            calls = ", ".join(sorted(describe_calls(self.reader.functions)))
            raise OutOfDomainError(
                f"a function must be one that the policy uses, got {output.call}; call {calls}"
            )


def _reads_catalogue(reader: Reader, node: Node) -> bool:
    """Whether a statement is about names and types alone; parts that are not allowed are refused.

    It may run where the tables have no record. It reads DuckDB's views of its own catalogue, or describes; a
    served table is read there only where no row of it is asked for (DESCRIBE, LIMIT 0), so that nobody takes
    no rows for an empty table.
    """
    limits = [each.get("limit") for each in node["modifiers"]]
    constants = [each for each in limits if each and each.get("type") == "VALUE_CONSTANT"]
    is_empty = 0 in reader.compute(constants)
    places = list(_tables_of_catalogue(reader, node, is_described=is_empty))
    if not places or not all(places):
        return False
    for part in parts_of(node, without=("cast_type", "function")):
        kind = part.get("type")
        if kind not in {"SHOW_REF", "VALUE_CONSTANT"}:
            refuse_unknown(part)
        if kind == "FUNCTION" and name_of(part) not in CATALOGUE_FUNCTIONS:
            check_function(part)
        if kind == "OPERATOR_CAST":
            check_type(part)
    return True


def _tables_of_catalogue(reader: Reader, node: Node, *, is_described: bool) -> Iterator[bool]:
    """Yield for each table that is read whether it is of the catalogue, or only described."""
    named = {name.casefold() for name in named_queries(node)}
    shown = [part for part in parts_of(node) if part.get("type") == "SHOW_REF"]
    described = {id(part) for part in parts_of(node if is_described else shown)}
    for part in parts_of(node):
        kind = part.get("type")
        if kind == "BASE_TABLE":
            name = ".".join(path_of(part, "table_name")).lower()
            is_served = name.rpartition(".")[2] in reader.columns_folded
            if name not in named:
                yield name in CATALOGUE or (is_served and id(part) in described)
        elif kind == "TABLE_FUNCTION":
            yield ".".join(path_of(part["function"], "function_name")).lower() in CATALOGUE
        elif kind == "SHOW_REF":
            yield part.get("show_type") != "SUMMARY"


def _select_of(document: str) -> Node:
    """Read the tree of one SELECT without parameters as json_serialize_sql writes it."""
    read = json.loads(document)
    statements = [] if read["error"] else read["statements"]
    if len(statements) != 1 or any(each for key, each in statements[0].items() if key != "node"):
        raise OutOfDomainError(REFUSAL_NO_SELECT)
    node: Node = statements[0]["node"]
    return node


def _refuse_long(sql: str) -> None:
    if len(sql) > MAX_CHARACTERS:
        raise OutOfDomainError(
            f"a statement must have at most {MAX_CHARACTERS:,} characters, got {len(sql):,}; "
            "shorten it"
        )
