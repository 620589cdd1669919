"""What the first tier leaves of tests/prepare/test_local.py."""

import datetime as dt
import json
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql.prepare
from reid_sql.check.policy import read_policy
from reid_sql.errors import ReidError, UnavailableError
from reid_sql.prepare.preparation import prepare as run
from tests.conftest import DATA
from tests.prepare.brute import K, class_sizes, made_by, policy, written
from tests.prepare.test_dialects import on_postgres, ordered
from tests.prepare.test_local import L2, SENSITIVE, asked, compare, made_of, people
from tests.processes import command


def test_postgres_gives_the_rows_of_duckdb(tmp_path: Path, postgres: str) -> None:
    for case, (qi, checks) in enumerate(
        [(["age", "zip", "born"], [K.format(3), L2]), (["score", "job"], [K.format(4)])]
    ):
        table = people(500, case)
        made = made_of(tmp_path, table, asked(qi, *checks))
        here = made_by(made.sql, "people_released")
        there = on_postgres(postgres, table, made.sql_in("postgres"))
        assert ordered(there) == ordered(here.rows())


@pytest.mark.parametrize("seed", range(4))
def test_best_loses_no_more_than_either_method(tmp_path: Path, seed: int) -> None:
    table = people(500, seed)
    losses = {}
    for method in ("global", "local", "best"):
        made = made_of(
            tmp_path, table, asked(["age", "zip", "sex"], K.format(4), more=f'method = "{method}"')
        )
        assert made.passed
        (page,) = made.page["tables"]
        losses[method] = page["losses"]["entropy"]
        assert page["method"] == (
            method if method != "best" else min("global", "local", key=losses.__getitem__)
        )
        assert page["global_loss"] == losses["global"]
    assert losses["best"] == min(losses["global"], losses["local"])


def test_a_column_of_more_weight_loses_less(tmp_path: Path) -> None:
    table = people(600, 6)
    lost: dict[str, dict[str, float]] = {}
    for name, listed in (("none", ""), ("zip", "weights.zip = 50"), ("age", "weights.age = 50.0")):
        made = made_of(
            tmp_path,
            table,
            asked(["age", "zip", "sex"], K.format(8), more=f'method = "local"\n{listed}'),
        )
        (page,) = made.page["tables"]
        lost[name] = {column["column"]: column["loss"] for column in page["columns"]}
        released = made_by(made.sql, "people_released")
        weights = {column["column"]: column["weight"] for column in page["columns"]}
        bits = [
            (weights[each], *compare(table, released, [each])) for each in ("age", "zip", "sex")
        ]
        expected = sum(weight * gone for weight, gone, _ in bits) / sum(
            weight * all_ for weight, _, all_ in bits
        )
        assert page["losses"]["entropy"] == pytest.approx(expected, rel=1e-3)
    assert lost["age"]["age"] < lost["zip"]["age"]
    assert lost["zip"]["zip"] < lost["age"]["zip"]


def test_what_only_the_gate_measures_is_measured_on_the_partition(tmp_path: Path) -> None:
    check = 'measure = "beta_likeness"\nat_most = 2.0'
    table = people(600, 3)
    made = made_of(tmp_path, table, asked(["age", "sex"], K.format(5), check))
    (page,) = made.page["tables"]
    assert page["measured_on_the_release"] == ["beta_likeness"]
    if made.passed:
        released = made_by(made.sql, "people_released")
        everywhere = dict(table["ill"].value_counts(normalize=True).rows())
        for _, values in released.group_by(["age", "sex"]):
            here = values["ill"].value_counts(normalize=True).rows()
            assert all(
                (share - everywhere[value]) / everywhere[value] <= 2.0 + 1e-9
                for value, share in here
            )
    else:
        assert page["losses"] is None


def test_the_command_and_python_choose_the_method(tmp_path: Path) -> None:
    people(400, 2).write_parquet(tmp_path / "people.parquet")
    file = written(tmp_path, asked(["age", "sex"], K.format(5), more=""))
    out = tmp_path / "out.sql"
    ended = command("prepare", str(file), "--method", "local", "--sql", str(out), "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    (page,) = json.loads(ended.stdout)["tables"]
    assert page["method"] == "local"
    assert out.read_text(encoding="utf-8") == reid_sql.prepare.prepare(file, method="local").sql
    told = command("prepare", str(file), "--method", "local").stdout
    assert "by local recoding." in told
    assert "global recoding loses" in told
    assert "code and counts as a value" not in told  # '*' is the release's own
    for method in ("local", "best"):
        early = command(
            "prepare", str(file), "--method", method, "--polars", str(tmp_path / "out.py")
        )
        assert early.returncode == 2
        assert early.stderr.startswith(
            f"reid-sql: --polars must come with method = 'global', got '{method}'"
        )
    refused = command("prepare", str(file), "--method", "locally")
    assert refused.returncode == 2
    assert "--method must be one of" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_what_local_recoding_cannot_do_is_refused(tmp_path: Path) -> None:
    table = people(300, 1)
    made = made_of(tmp_path, table, asked(["age", "sex"], K.format(5)))
    with pytest.raises(UnavailableError, match="in Polars must be by global recoding"):
        _ = made.python
    table.write_parquet(tmp_path / "town.parquet")
    journalist = 'measure = "journalist_highest_risk"\nat_most = 0.2'
    others = f'{SENSITIVE}\npopulation_file = "town.parquet"'
    text = asked(["age", "sex"], K.format(5), journalist, table=others)
    file = written(tmp_path, text)
    assert read_policy(file).tables[0].role_sources
    with pytest.raises(
        UnavailableError, match="checks of the table alone, got people with population"
    ):
        run(file)
    assert run(file, method="best").page["tables"][0]["method"] == "global"
    with pytest.raises(ReidError, match="method must be one of"):
        run(file, method="least")


def test_adult_loses_less_than_by_global_recoding(tmp_path: Path) -> None:
    qi = [
        "age",
        "workclass",
        "education",
        "marital_status",
        "occupation",
        "race",
        "sex",
        "native_country",
    ]
    table = 'sensitive = ["income"]'
    text = policy(
        str(DATA / "adult.parquet"), qi, K.format(5), L2, prepare='method = "best"', table=table
    )
    made = run(written(tmp_path, text))
    (page,) = made.page["tables"]
    assert made.passed
    assert page["method"] == "local"
    assert page["local_loss"] < 0.4
    assert page["global_loss"] > 0.55
    released = made_by(made.sql, "adult_released")
    assert len(released) == 32_561
    assert {"other (level 1)", "other (level 2)"} <= set(released["education"])
    classes = released.group_by(qi).agg(pl.len(), pl.col("income").n_unique())
    assert classes["len"].min() == 5
    assert classes["income"].min() == 2


@pytest.mark.parametrize("nulls", ["value", "drop", "wildcard"])
def test_values_of_any_kind_are_within_what_is_shown(tmp_path: Path, nulls: str) -> None:
    """NaN, infinity, moments, decimals, truth values and text that quotes, breaks lines, is like JSON."""
    rng = np.random.default_rng(7)
    odd = ['"', "\\", "a\nb", "\\u0041", "[1]", "é\u200b", "'", "null", "\t"]
    size = 400
    moments = [
        dt.datetime.fromisoformat("1990-01-01") + dt.timedelta(hours=int(each))
        for each in rng.integers(0, 9000, size)
    ]
    floats = [
        float("nan"),
        float("inf"),
        -float("inf"),
        *map(float, rng.normal(0, 9, 40).round(3)),
        None,
    ]
    table = pl.DataFrame(
        {
            "name": [f"P{at}" for at in range(size)],
            'o"dd': [odd[at] for at in rng.integers(0, len(odd), size)],
            "moment": moments,
            "float": [floats[at] for at in rng.integers(0, len(floats), size)],
            "decimal": pl.Series(rng.integers(-500, 500, size)).cast(pl.Decimal(10, 2)) / 100,
            "truth": rng.integers(0, 2, size).astype(bool),
        }
    )
    qi = ['o\\"dd', "moment", "float", "decimal", "truth"]
    text = policy(
        "people.parquet",
        [],
        K.format(4),
        prepare='keep = ["name"]\nmethod = "local"',
        table=f'nulls = "{nulls}"',
    ).replace(
        "quasi_identifiers = []",
        "quasi_identifiers = [" + ", ".join(f'"{each}"' for each in qi) + "]",
    )
    made = made_of(tmp_path, table, text)
    assert made.passed
    released = made_by(made.sql, "people_released")
    assert sorted(released["name"]) == sorted(table["name"])
    names = [each.replace("\\", "") for each in qi]
    assert class_sizes(released, names)[0] >= 4
    released.select(["name", *names]).write_parquet(tmp_path / "released.parquet")
    kinds = {"moment": "TIMESTAMP", "float": "DOUBLE", "decimal": "DECIMAL(10, 2)"}
    with duckdb.connect() as con:
        joined = (
            f"'{tmp_path}/people.parquet' AS t JOIN '{tmp_path}/released.parquet' AS r USING (name)"
        )
        for name, kind in kinds.items():
            shown = f"CAST(r.{name} AS VARCHAR)"
            low, high = (f"TRY_CAST(split_part({shown}, ' to ', {at}) AS {kind})" for at in (1, -1))
            inside = f"{shown} = '*' OR t.{name} BETWEEN {low} AND {high}"
            known = f"coalesce(CASE WHEN {shown} IS NULL THEN t.{name} IS NULL ELSE {inside} END, false)"
            assert con.execute(f"SELECT count(*) FROM {joined} WHERE NOT {known}").fetchone() == (
                0,
            ), name
        for name in ('"o""dd"', "truth"):
            shown = f"CAST(r.{name} AS VARCHAR)"
            same = f"{shown} = '*' OR {shown} LIKE 'other%' OR {shown} = CAST(t.{name} AS VARCHAR)"
            assert con.execute(f"SELECT count(*) FROM {joined} WHERE NOT ({same})").fetchone() == (
                0,
            ), name
