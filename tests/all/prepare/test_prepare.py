"""What the first tier leaves of tests/prepare/test_prepare.py."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql.prepare
from reid_sql.prepare.preparation import prepare as run
from tests.conftest import DATA
from tests.prepare.brute import K, class_sizes, made_by, policy, written
from tests.prepare.brute import frame as made_of
from tests.prepare.test_prepare import *
from tests.prepare.test_prepare import lost


@pytest.mark.real_data
def test_adult_with_eight_quasi_identifiers_is_solved_in_under_a_minute(tmp_path: Path) -> None:
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
    file = written(tmp_path, policy(str(DATA / "adult.parquet"), qi, K.format(5)))
    made = run(file)
    assert made.passed
    assert made.tables[0].result.optimal
    assert made.tables[0].seconds < 60
    released = made_by(made.sql, "adult_released")
    assert class_sizes(released, qi)[0] >= 5
    assert len(released) >= 0.98 * 32561


@pytest.mark.real_data
@pytest.mark.parametrize(("k", "suppression"), [(5, 0.01), (50, 0.0)])
def test_adult_on_a_small_lattice_loses_what_an_exhaustive_search_does(
    tmp_path: Path, k: int, suppression: float
) -> None:
    qi = ["age", "education", "race", "marital_status"]
    hierarchies = """
        hierarchies.age = [{ bands = 10 }, { bands = 20 }]
        hierarchies.education = [{ rare = 1000 }]
        hierarchies.race = [{ rare = 1000 }]
        hierarchies.marital_status = [{ rare = 2000 }]
    """
    prepare = f"suppression = {suppression}\n{hierarchies}"
    made = run(
        written(tmp_path, policy(str(DATA / "adult.parquet"), qi, K.format(k), prepare=prepare))
    )
    frame = pl.read_parquet(DATA / "adult.parquet").select(qi)
    forms = {
        "age": [pl.col("age"), pl.col("age") // 10, pl.col("age") // 20, pl.lit(0)],
        **{
            name: [pl.col(name), frequent_values(name, least), pl.lit("")]
            for name, least in RARE.items()
        },
    }
    least = min(
        loss
        for chosen in product(*(forms[name] for name in qi))
        if (loss := lost_by(frame, dict(zip(qi, chosen, strict=True)), k, suppression)) is not None
    )
    assert lost(made) == pytest.approx(least)


RARE = {"education": 1000, "race": 1000, "marital_status": 2000}


def frequent_values(name: str, least: int) -> pl.Expr:
    """Values of so many records, the others as one."""
    return pl.when(pl.len().over(name) >= least).then(pl.col(name)).otherwise(pl.lit("other"))


def lost_by(
    frame: pl.DataFrame, chosen: dict[str, pl.Expr], k: int, suppression: float
) -> float | None:
    """The loss of a form, each record by itself; None where too many would be left out."""
    qi = list(chosen)
    coarse = frame.with_columns(form.alias(f"{name}_coarse") for name, form in chosen.items())
    stays = pl.len().over([f"{name}_coarse" for name in qi]) >= k
    parts = [
        pl.when(stays).then(pl.len().over(f"{name}_coarse")).otherwise(pl.len())
        / pl.len().over(name)
        for name in qi
    ]
    reported = coarse.select(
        stays.not_().sum().alias("gone"),
        pl.sum_horizontal(part.log(2).sum() for part in parts).alias("lost"),
        pl.sum_horizontal((pl.len() / pl.len().over(name)).log(2).sum() for name in qi).alias(
            "whole"
        ),
    ).row(0, named=True)
    return (
        None
        if reported["gone"] > suppression * len(frame)
        else reported["lost"] / reported["whole"]
    )


def test_what_class_sizes_do_not_tell_is_measured_on_the_release(tmp_path: Path) -> None:
    frame = people(400, seed=2)
    frame = frame.with_columns(
        diagnosis=pl.when(pl.col("city") == "2345").then(pl.lit("A")).otherwise("diagnosis")
    )
    frame.write_parquet(tmp_path / "people.parquet")
    checks = (K.format(3), L.format(2))
    sensitive = 'sensitive = ["diagnosis"]'
    alone = run(
        written(
            tmp_path, policy("people.parquet", QI, checks[0], prepare=HIERARCHIES, table=sensitive)
        )
    )
    made = run(
        written(
            tmp_path, policy("people.parquet", QI, *checks, prepare=HIERARCHIES, table=sensitive)
        )
    )
    both = made_by(made.sql, "people_released")
    assert made.passed
    left = [name for name in QI if name in both.columns]  # a column of '*' alone is left out
    assert min(both.group_by(left).agg(pl.col("diagnosis").n_unique())["diagnosis"].to_list()) >= 2
    assert class_sizes(both, left)[0] >= 3
    single = made_by(alone.sql, "people_released")
    kept = [name for name in QI if name in single.columns]
    poor = single.group_by(kept).agg(pl.col("diagnosis").n_unique())
    assert min(poor["diagnosis"].to_list()) == 1  # so that there was something to judge
    assert lost(made) > lost(alone)


def test_a_population_is_made_coarser_in_the_same_way(tmp_path: Path) -> None:
    whole = people(2000, seed=3)
    whole.write_parquet(tmp_path / "register.parquet")
    whole.head(300).write_parquet(tmp_path / "people.parquet")
    risk = 'measure = "journalist_highest_risk"\nat_most = 0.05'
    register = 'population_file = "register.parquet"'
    text = policy(
        "people.parquet", QI, risk, prepare=f"suppression = 0.0\n{HIERARCHIES}", table=register
    )
    made = run(written(tmp_path, text))
    assert made.passed
    released = made_by(made.sql, "people_released")
    members = made_by(made.sql.replace("people.parquet", "register.parquet"), "people_released")
    left = [name for name in QI if name in released.columns]  # a column of '*' alone is left out
    found = released.unique().join(members.group_by(left).len(), on=left, nulls_equal=True)
    assert min(found["len"].to_list()) >= 20
    assert len(found) == released.n_unique()


def test_a_check_against_a_baseline_is_measured_on_the_release(
    tmp_path: Path, table: pl.DataFrame
) -> None:
    """Without the baseline it could not be judged, and there is no release."""
    mean = 'measure = "average_class_risk"\nat_most = 1.0\n'
    before = reid_sql.check(written(tmp_path, policy("people.parquet", QI, mean)))
    before.json(tmp_path / "base.json")
    text = policy("people.parquet", QI, K.format(4), f"{mean}no_worse = true", prepare=HIERARCHIES)
    assert run(written(tmp_path, text)).verdict == "fail"
    made = run(written(tmp_path, f'baseline = "base.json"\n{text}'))
    assert made.passed
    released = made_by(made.sql, "people_released")
    sizes, was = class_sizes(released, QI), class_sizes(table, QI)
    assert sizes[0] >= 4
    assert sum(1 / each for each in sizes) / len(sizes) <= sum(1 / each for each in was) / len(was)


def test_text_files_and_databases_are_read_as_they_are_measured(
    tmp_path: Path, table: pl.DataFrame
) -> None:
    table.write_csv(tmp_path / "people.csv", separator=";")
    made = run(
        written(
            tmp_path,
            policy("people.csv", QI, K.format(5), prepare=HIERARCHIES, table='delimiter = ";"'),
        )
    )
    assert class_sizes(made_by(made.sql, "people_released"), QI)[0] >= 5
    with duckdb.connect(tmp_path / "people.duckdb") as con:
        con.execute(
            "CREATE TABLE people AS FROM 'people.parquet'".replace(
                "people.p", f"{tmp_path}/people.p"
            )
        )
    other = run(written(tmp_path, policy("people.duckdb", QI, K.format(5), prepare=HIERARCHIES)))
    with duckdb.connect(tmp_path / "people.duckdb") as con:
        con.execute(other.sql)
        assert class_sizes(made_of(con, "people_released"), QI)[0] >= 5


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path, table: pl.DataFrame) -> None:
    file = written(tmp_path, policy("people.parquet", QI, K.format(5), prepare=HIERARCHIES))
    names = {
        "--sql": "r.sql",
        "--polars": "r.py",
        "--json-report": "r.json",
        "--plot": "r.svg",
        "--html": "r.html",
    }
    options = [part for option, name in names.items() for part in (option, str(tmp_path / name))]
    ended = asked(str(file), *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "the least of all transformations that meet the policy" in ended.stdout
    sql = (tmp_path / "r.sql").read_text(encoding="utf-8")
    assert class_sizes(made_by(sql, "people_released"), QI)[0] >= 5
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["verdict"] == "pass"
    assert (tmp_path / "r.svg").read_text(encoding="utf-8").startswith("<svg")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>What to do next</h2><ul><li>people: " in page
    assert "the least of all transformations that meet the policy" in page
    again = asked(str(file), *options, "--json")
    assert json.loads(again.stdout)["tables"][0]["optimal"]
    over = asked(str(file), "--sql", str(tmp_path / "people.parquet"))
    assert over.stderr.startswith("reid-sql: --sql must not be a file that the run reads")
    assert len(table) == 300


def test_blank_values_in_place_of_records(tmp_path: Path, table: pl.DataFrame) -> None:
    """The SQL and the Polars file say the same; fewer records go, and nobody stands out by what is blank."""
    prepare = f'suppression = 0.1\ncells = true\nkeep = ["name"]\n{HIERARCHIES}'
    made = run(written(tmp_path, policy("people.parquet", QI, K.format(5), prepare=prepare)))
    rows = run(
        written(
            tmp_path,
            policy("people.parquet", QI, K.format(5), prepare=f"suppression = 0.1\n{HIERARCHIES}"),
        )
    )
    released = made_by(made.sql, "people_released")
    assert made.passed
    assert class_sizes(released, QI)[0] >= 5
    assert len(released) > len(made_by(rows.sql, "people_released"))
    reported = made.page["tables"][0]
    assert reported["blank_columns"]
    assert reported["losses"]["entropy"] < rows.page["tables"][0]["losses"]["entropy"]
    assert reported["suppressed_share"] in {None, 1 - len(released) / len(table)}
    space: dict[str, Any] = {}
    exec(made.python, space)  # noqa: S102 - as a reader runs it
    by_polars = space["released_people"](table).collect().sort("name")
    assert by_polars.with_columns(pl.all().cast(pl.String)).equals(
        released.sort("name").with_columns(pl.all().cast(pl.String))
    )


def test_leaving_out_classes_for_their_values_loses_less(tmp_path: Path) -> None:
    """Without leave to suppress, every class must be merged until it holds the limit."""
    ill().write_parquet(tmp_path / "people.parquet")
    checks, sensitive = (K.format(3), L.format(3)), 'sensitive = ["diagnosis"]'
    lost_at = {}
    for share in (0.0, 0.2):
        prepare = f"suppression = {share}\n{HIERARCHIES}"
        text = policy("people.parquet", QI, *checks, prepare=prepare, table=sensitive)
        made = run(written(tmp_path, text))
        assert made.passed
        assert made.page["tables"][0]["optimal"]
        lost_at[share] = lost(made)
        assert len(made_by(made.sql, "people_released")) >= (1 - share) * 400
    assert lost_at[0.2] < lost_at[0.0]


def test_a_target_is_described(tmp_path: Path) -> None:
    """By the policy and by the command alike; of a text file, whose other columns are else not read."""
    rng = np.random.default_rng(11)
    age = rng.integers(18, 80, 500)
    frame = pl.DataFrame(
        {
            "age": age,
            "sex": [str(each) for each in rng.choice(["F", "M"], 500)],
            "rich": ["yes" if each > 45 else "no" for each in age],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    prepare = (
        'suppression = 0.02\ntarget = "rich"\nhierarchies.age = [{ bands = 20 }, { bands = 40 }]'
    )
    file = written(tmp_path, policy("people.csv", ["age", "sex"], K.format(20), prepare=prepare))
    made = run(file)
    reported = made.page["tables"][0]["target"]
    assert reported["expected_error"] == pytest.approx(
        min((age > 45).mean(), (age <= 45).mean()), abs=1e-4
    )
    assert reported["original"]["error"] == 0.0
    assert (reported["original"]["by"], reported["released"]["by"]) == (["age"], ["age"])
    released = made_by(made.sql, "people_released")
    assert "rich" not in released.columns
    bands = frame.with_columns(band=pl.col("age") // 20 * 20).group_by("band").agg(pl.col("rich"))
    if (
        made.tables[0].transformation is not None
        and made.tables[0].transformation.levels["age"][1] == 1
    ):
        wrong = sum(min(rows.count("yes"), rows.count("no")) for rows in bands["rich"].to_list())
        assert reported["released"]["error"] == pytest.approx(wrong / 500, abs=1e-3)
    assert 0 < reported["information_kept"] < 1
    assert {each["column"]: each["information_kept"] for each in reported["columns"]}["age"] < 1
    ended = asked(str(file), "--target", "rich")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Target rich: " in ended.stdout
    assert json.loads(asked(str(file), "--json").stdout)["tables"][0]["target"] == reported
