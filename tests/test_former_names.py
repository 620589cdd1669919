"""Names that functions had in the last release: refused with the new name, the same everywhere."""

import re
from typing import Any

import duckdb
import pytest

import reid_sql
import reid_sql.ibis
import reid_sql.polars
from reid_sql.errors import UnknownNameError
from reid_sql_udfs import declared
from tests.processes import command

FORMER = {
    "copula_models": ("fitted_models", "copula_models()"),
    "copula_json": ("model_json", "copula_json(model := 'town')"),
    "load_copula": ("load_model", "load_copula('town', saved)"),
    "l_diversity_classes": (
        "disclosing_classes",
        "l_diversity_classes(people, ['age'], 'sex', l := 3)",
    ),
    "t_closeness_classes": (
        "disclosing_classes",
        "t_closeness_classes(people, ['age'], 'sex', t := 0.1)",
    ),
    "alpha_k_anonymity_classes": (
        "disclosing_classes",
        "alpha_k_anonymity_classes(people, ['age'], 'sex')",
    ),
    "beta_likeness_classes": (
        "disclosing_classes",
        "beta_likeness_classes(people, ['age'], 'sex')",
    ),
    "delta_disclosure_classes": (
        "disclosing_classes",
        "delta_disclosure_classes(people, ['age'], 'sex')",
    ),
    "score_copula": ("score_records", "score_copula(people, 'town', 1000, sample := 'known')"),
}


def sentence(name: str) -> str:
    return f"the function must be called {FORMER[name][0]}, got its former name {name}; "


@pytest.mark.parametrize("name", FORMER)
@pytest.mark.parametrize("place", ["", "reid."])
def test_sql_refuses_a_former_name_with_the_new_one(name: str, place: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        with pytest.raises(duckdb.Error, match=re.escape(sentence(name))):
            con.execute(f"FROM {place}{FORMER[name][1]}").fetchall()


@pytest.mark.parametrize("name", FORMER)
@pytest.mark.parametrize(
    "module", [reid_sql, reid_sql.polars, reid_sql.ibis], ids=lambda m: m.__name__
)
def test_python_refuses_a_former_name_with_the_new_one(name: str, module: Any) -> None:
    call = getattr(module, name)
    with pytest.raises(UnknownNameError, match=re.escape(sentence(name))):
        call("town", sample="known")
    assert name not in dir(module)


@pytest.mark.parametrize(("name", "of"), [("k_anonymity", "risk_summary")])
def test_a_further_name_answers_as_the_function_does(name: str, of: str) -> None:
    assert name in declared()[of].also
    people = reid_sql.polars.demo_people()
    smallest = people.collect().group_by("age").len()["len"].min()
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE TEMP TABLE people AS FROM demo_people()")
        due = con.execute(
            f"FROM {of}(people, ['age', 'sex'], by := ['sex']) ORDER BY ALL"
        ).fetchall()
        for place in ("", "reid."):
            call = f"FROM {place}{name}(people, ['age', 'sex'], by := ['sex']) ORDER BY ALL"
            assert con.execute(call).fetchall() == due
        assert len(due) == 2
        assert getattr(reid_sql, name)(con, "people", ["age"]).fetchall()[0][2] == smallest
    rows = [getattr(reid_sql.polars, each)(people, ["age"]).collect() for each in (name, of)]
    assert rows[0].equals(rows[1])
    asked = command("sql", f"{name}(people, ['age', 'sex'])").stdout
    assert asked == command("sql", f"{of}(people, ['age', 'sex'])").stdout != ""


def test_no_name_is_both_former_and_a_function() -> None:
    former = [
        call.partition("(")[0] for function in declared().values() for call in function.former
    ]
    assert sorted(former) == sorted(FORMER)
    assert not set(former) & set(declared())
