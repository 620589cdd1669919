"""Roles of columns that people have written down: comments in DuckDB, dbt, data contracts, data packages.

Of a column, tags, meta keys, classifications, custom properties and descriptions are read. A word of a role
counts where it is a tag, a flag that is true, or a whole part of a text: "age in years; quasi-identifier".
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters.domain import fold_case
from reid_sql.sources.other_programs import read_mapping

_FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ROLES: Final = (*_FILE["words"],)
QUASI_IDENTIFIER, SENSITIVE, IDENTIFIER, ENTITY, HOUSEHOLD, *_PERSONAL = ROLES
UNKNOWN: Final = "unknown"
VAGUE: Final = (*_PERSONAL, UNKNOWN)  # name no role
WORDS: Final = {word: role for role, words in _FILE["words"].items() for word in words}
LABELS: Final = frozenset({*_FILE["labels"], *WORDS})  # keys of what a role is written in
MIN_SIMILARITY: Final = 0.92  # of a word with a slip
PARTS: Final = re.compile(r"[;:,.|/()\[\]\n]")
COMMENTS: Final = """SELECT column_name, comment FROM duckdb_columns()
    WHERE database_name = $1 AND comment IS NOT NULL AND ($2 IS NULL
      OR $2 IN (concat_ws('.', nullif(schema_name, 'main'), table_name), concat_ws('.', schema_name, table_name)))"""
EXAMPLE: Final = '{"fields": [{"name": "age", "tags": ["quasi_identifier"]}]}'


class Role(NamedTuple):
    """The role of a column, and who or what says so."""

    word: str
    reason: str


Labels = Sequence[tuple[str, Role]]  # by column


def read_role(text: str, source: str = "") -> Role | None:
    """Read a text that is a word of a role, or nearly one, which names none.

    >>> read_role(" #Quasi-Identifier").word, read_role("non-sensitive").word, read_role("age")
    ('quasi_identifier', 'no personal data', None)
    >>> read_role("sensitve", "a.yml").reason
    "a.yml says 'sensitve' (did you mean 'sensitive'?)"
    """
    spelled = re.sub(r"[\W_]+", "_", text.lower()).strip("_")
    if word := WORDS.get(spelled):
        return Role(word, f"{source} says {word}")
    near = get_close_matches(spelled, WORDS, 1, MIN_SIMILARITY)
    return Role(UNKNOWN, f"{source} says '{spelled}' (did you mean '{near[0]}'?)") if near else None


def find_roles(labels: Labels, columns: Sequence[str]) -> dict[str, Role]:
    """Find the role of each column; refuses two, and names columns that the table lacks.

    >>> labels = [("AGE", read_role("pii", "a.yml")), ("age", read_role("Sensitive", "b.yml"))]
    >>> find_roles(labels, ["age"])
    {'age': Role(word='sensitive', reason='b.yml says sensitive')}
    """
    names = {fold_case(name): name for name in columns}
    roles: dict[str, Role] = {}
    for column, role in labels:
        name = names.get(fold_case(column), "")
        former = roles.get(name)
        if not name:
            roles[column] = Role(UNKNOWN, f"{role.reason}, but the table lacks it")
        elif former is None or former.word in VAGUE:
            roles[name] = role
        elif role.word not in (former.word, *VAGUE):
            raise OutOfDomainError(
                f"a column must have one role, got two for '{name}': {former.reason}, {role.reason}; correct one"
            )
    return roles


def read_comments(con: duckdb.DuckDBPyConnection, catalog: str, table: str | None) -> Labels:
    """Read the comments of a table's columns in an attached database; none of a file that is no database."""
    return [
        (name, role)
        for name, text in con.execute(COMMENTS, [catalog, table]).fetchall()
        for part in PARTS.split(text)
        if (role := read_role(part, "the comment of the column"))
    ]


Catalogue = dict[frozenset[str], list[tuple[str, Role]]]  # labels of a table, by its names


def find_labels(catalogue: Catalogue, name: str, *, is_alone: bool) -> Labels:
    """Return the labels of a table by its name; one that is alone, here and there, needs none."""
    wanted, tables = _spell_name(name), {of: each for of, each in catalogue.items() if each}
    for names, labels in tables.items():
        if names & wanted or (is_alone and len(catalogue) == 1):
            return labels
    if is_alone:
        known = suggestion(name, sorted(frozenset().union(*tables)), "tables with roles")
        raise UnknownNameError(
            f"--catalogue must have a role of a column of '{name}', got none; {known}"
        )
    return []


def read_catalogue(path: Path) -> Catalogue:
    """Read what a file of dbt, a data contract, a data package or an event of OpenLineage says of columns."""
    catalogue: Catalogue = {}
    _collect(read_mapping(path, "--catalogue", EXAMPLE), frozenset(), path.name, catalogue)
    if not catalogue:
        raise OutOfDomainError(
            f"--catalogue must list columns as dbt, ODCS 3, Frictionless or OpenLineage do, got none in '{path.name}'; write them like {EXAMPLE}"
        )
    return catalogue


def _spell_name(name: str) -> frozenset[str]:
    """Spell the name of a table: whole, a path without its ending, and without its schema."""
    return frozenset(map(fold_case, (name, Path(name).stem, name.rpartition(".")[2])))


def _collect(node: Any, names: frozenset[str], file: str, catalogue: Catalogue) -> None:  # noqa: ANN401 - a document's
    """Collect the labels of all tables within a node; `names` are those of the table around it."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return
    written = [value for key in _FILE["table_names"] if isinstance(value := node.get(key), str)]
    names = frozenset().union(*map(_spell_name, written)) or names
    for key, value in node.items():
        columns = _list_columns(key, value)
        if columns is None:
            _collect(value, names, file, catalogue)
        for labels in _read_columns(columns or (), file):
            catalogue.setdefault(names, []).extend(labels)


def _list_columns(key: str, value: Any) -> list[Any] | None:  # noqa: ANN401 - the same
    """List the columns that a key has; None if it is none of columns. The manifest of dbt has a mapping."""
    if key == "columns" and isinstance(value, dict):
        return [*value.values()]
    return value if key in _FILE["columns"] and isinstance(value, list) else None


def _read_columns(columns: Iterable[Any], file: str) -> Iterator[Labels]:
    """Yield the roles of each column that has a name, one by one."""
    for column in columns:
        if isinstance(column, dict) and (
            name := next(filter(column.__contains__, _FILE["column_names"]), None)
        ):
            labels = {"tags": column} if "key" in column else column
            yield [
                (str(column[name]), role)
                for label, each in labels.items()
                if label in LABELS
                for text in _texts(label, each)
                if (role := read_role(text, file))
            ]


def _texts(key: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - a document's
    """List the parts of a text, of lists and of mappings; of a flag its key, negated where it is false."""
    if isinstance(value, dict):
        pair = value.get("property", value.get("key"))  # of a contract, of an event
        pairs = value.items() if pair is None else [(str(pair), value.get("value"))]
    elif isinstance(value, list):
        pairs = [(key, each) for each in value]
    else:
        flag = _FILE["flags"].get(str(value).lower())
        yield from PARTS.split(str(value)) if flag is None else [flag + key]
        return
    for name, each in pairs:
        yield from _texts(name, each)
