"""Every reduction in the words of databases that cannot be run here, as far as reading them tells."""

import pytest
import sqlglot

from reid_sql.engines.ibis.alike import BY_BYTES
from tools.dialects import DIALECTS, FOLDER, had, query, stored

NAMED = {"mssql": "tsql"}  # as sqlglot names a dialect


@pytest.mark.newest
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_reads_as_the_dialect_and_changes_nothing(dialect: str) -> None:
    for name in had(dialect):
        (tree,) = sqlglot.parse(query(name, dialect), read=NAMED.get(dialect, dialect))
        assert isinstance(tree, sqlglot.exp.Query)
        assert not list(tree.find_all(sqlglot.exp.Create, sqlglot.exp.Insert, sqlglot.exp.Drop))
        tables = {table.name for table in tree.find_all(sqlglot.exp.Table)}
        asked = {"people", "country"} if name.startswith("population") else {"people"}
        others = {cte.alias for cte in tree.find_all(sqlglot.exp.CTE)}
        assert tables - others == asked


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stored_query_is_the_one_that_is_compiled(dialect: str) -> None:
    assert (FOLDER / f"{dialect}.sql").read_text(encoding="utf-8") == stored(dialect)


@pytest.mark.parametrize("dialect", sorted(each.lower() for each in BY_BYTES))
def test_texts_are_never_compared_as_they_are(dialect: str) -> None:
    """Where the database's own comparison may ignore case, the text is compared in other words."""
    if dialect in {"duckdb", "sqlite", "singlestore"}:  # run elsewhere, or not kept
        return
    tree = sqlglot.parse_one(query("histogram", dialect), read=NAMED.get(dialect, dialect))
    named = [column for column in tree.find_all(sqlglot.exp.Column) if column.name == "name"]
    assert named
    assert all(
        not isinstance(column.parent, sqlglot.exp.Alias | sqlglot.exp.Group) for column in named
    )


def test_the_folder_holds_each_dialect() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(DIALECTS)
