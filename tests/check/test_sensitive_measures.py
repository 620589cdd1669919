"""Measures of a sensitive column in a warehouse: one statement for all, and each figure is DuckDB's."""

import sqlite3
from pathlib import Path

import duckdb
import pytest

from reid_sql.check import client_records, gate
from reid_sql.check.policy import read_policy
from reid_sql.engines.ibis.reductions.disclosure import several_kinds
from reid_sql.errors import ReidError

MEASURES = ("l_diversity", "t_closeness", "alpha_k_anonymity", "beta_likeness", "delta_disclosure")
CHECKS = [
    *(
        f'{{ measure = "{name}", at_{"least" if name == "l_diversity" else "most"} = 1 }}'
        for name in MEASURES
    ),
    *(
        f'{{ measure = "l_diversity", variant = "{name}", at_least = 1 }}'
        for name in ("entropy", "recursive")
    ),
    '{ measure = "l_diversity", variant = "recursive", c = 2, at_least = 1 }',
    '{ measure = "beta_likeness", variant = "enhanced", at_most = 1 }',
    '{ measure = "delta_disclosure", variant = "all", at_most = 1 }',
    '{ measure = "t_closeness_offending", t = 0.1, at_most = 1 }',
    '{ measure = "l_diversity", at_least = 1, quasi_identifiers = ["age"] }',
]
ROWS = [
    (age, sex, None if age == 3 and row == 2 else (age * row + sex) % (2 + age))
    for age in range(4)
    for sex in range(2)
    for row in range(3 + 2 * age)
] + [(None, 1, 0), (None, 1, None), (2, None, 1)]


def policy(folder: Path, where: str, nulls: str, name: str) -> Path:
    path = folder / f"{name}.toml"
    checks = ",\n".join(CHECKS).replace(" }", ', sensitive = "illness" }')
    path.write_text(
        f'mask_below = 1\n[[tables]]\n{where}\nname = "people"\nnulls = "{nulls}"\n'
        f'quasi_identifiers = ["age", "sex"]\nchecks = [\n{checks}\n]\n',
        encoding="utf-8",
    )
    return path


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, str]:
    con = sqlite3.connect(tmp_path / "r.sqlite")
    con.execute("CREATE TABLE people (age INTEGER, sex INTEGER, illness INTEGER)")
    con.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    con.commit()
    con.close()
    with duckdb.connect() as other:
        other.execute("CREATE TABLE people (age INTEGER, sex INTEGER, illness INTEGER)")
        other.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
        other.execute(f"COPY people TO '{tmp_path / 'people.parquet'}'")
    return {"file": 'file = "people.parquet"', "url": 'url = "sqlite://r.sqlite"\ntable = "people"'}


@pytest.mark.parametrize("nulls", ["value", "drop"])
def test_each_figure_is_the_one_of_the_file(
    tmp_path: Path, sources: dict[str, str], nulls: str
) -> None:
    own, other = (
        gate.check(policy(tmp_path, where, nulls, name))["checks"]
        for name, where in sources.items()
    )
    assert len(own) == len(CHECKS)
    for one, two in zip(own, other, strict=True):
        first, second = one["groups"][0], two["groups"][0]
        assert first["verdict"] == second["verdict"] != "not judged"
        assert first["status"] == second["status"]
        assert (first["value"] is None) == (second["value"] is None)  # JSON has no infinity
        assert (first["value"] or 0) == pytest.approx(second["value"] or 0, rel=1e-9)


def test_one_statement_counts_the_measures_of_the_same_columns(
    tmp_path: Path, sources: dict[str, str]
) -> None:
    """One measure of each function; another variant of it, and other columns, are counted by themselves."""
    path = policy(tmp_path, sources["url"], "value", "p")
    statements = gate.plan_statements(read_policy(path), overview=False).statements
    assert len([each for each in statements if "value_4" in each.sql]) == 1
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("enhanced", "basic"), encoding="utf-8")
    assert (
        len(gate.plan_statements(read_policy(path), overview=False).statements)
        == len(statements) - 1
    )


def test_records_come_for_a_check_of_a_larger_population_alone(
    tmp_path: Path, sources: dict[str, str]
) -> None:
    """The codes of both columns come where the records do: for the check, never for the page alone."""
    path = tmp_path / "p.toml"
    come = {}
    for population in (1, 2):
        named = f'quasi_identifiers = ["age", "sex"]\npopulation = {population}'
        for measure in ("k', at_least = 1", "population_correctness', at_most = 1"):
            checks = f"checks = [{{ measure = '{measure} }}]"
            path.write_text(f"[[tables]]\n{sources['url']}\n{named}\n{checks}", encoding="utf-8")
            statements = gate.plan_statements(read_policy(path)).statements
            come[population, measure[0]] = any("reid_code_1" in each.sql for each in statements)
    assert come == {(1, "k"): False, (2, "k"): False, (1, "p"): True, (2, "p"): True}


def test_a_measure_that_is_refused_leaves_the_others_judged(
    tmp_path: Path, sources: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all together are refused, each is asked alone."""
    path = policy(tmp_path, sources["url"], "value", "p")
    expected = [each["groups"][0]["value"] for each in gate.check(path)["checks"]]

    def one_at_a_time(*arguments: object) -> object:
        if len(arguments) > 5:
            raise ReidError("too many at once")
        return several_kinds(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(client_records, "several_kinds", one_at_a_time)
    assert [each["groups"][0]["value"] for each in gate.check(path)["checks"]] == expected
