"""A release meets its policy when a reader counts it, loses no more than it must, tells no small count."""

import json
import os
import subprocess
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import reid_sql.prepare
from reid_sql.errors import ReidError
from reid_sql.prepare.preparation import Prepared
from reid_sql.prepare.preparation import prepare as run
from tests.models.generalization.brute import entropy_loss
from tests.prepare.brute import K, class_sizes, made_by, policy, present, written
from tests.processes import command

if TYPE_CHECKING:
    from collections.abc import Callable

AGES = "hierarchies.age = [{ bands = 10 }, { bands = 20 }]"
HIERARCHIES = (
    f"{AGES}\nhierarchies.city = [{{ prefix = 2 }}, {{ prefix = 1 }}]\nhierarchies.sex = []"
)


def people(records: int = 300, seed: int = 1) -> pl.DataFrame:
    """Ages, cities and sexes, some of them missing, a diagnosis and a name."""
    rng = np.random.default_rng(seed)
    age = [None if rng.random() < 0.05 else int(each) for each in rng.integers(18, 80, records)]
    city = [str(each) for each in rng.choice(["1010", "1020", "1100", "2010", "2345"], records)]
    return pl.DataFrame(
        {
            "name": [f"Person {at}" for at in range(records)],
            "age": age,
            "city": city,
            "sex": [str(each) for each in rng.choice(["F", "M"], records)],
            "diagnosis": [str(each) for each in rng.choice(["A", "B", "C"], records)],
        }
    )


QI = ["age", "city", "sex"]


def lost(made: Prepared) -> float:
    """The loss of the form that was found."""
    best = made.tables[0].result.best
    assert best is not None
    return best.loss


@pytest.fixture
def table(tmp_path: Path) -> pl.DataFrame:
    frame = people()
    frame.write_parquet(tmp_path / "people.parquet")
    return frame


def exhaustive(
    frame: pl.DataFrame, k: int, suppression: float, weights: dict[str, float] | None = None
) -> float:
    """Every form of the table counted by Polars, its values made coarser by plain Python."""

    def age(value: int | None, width: int) -> str | None:
        return (
            None
            if value is None
            else f"{value // width * width} to {value // width * width + width - 1}"
        )

    forms: dict[str, list[Callable[[Any], Any]]] = {
        "age": [lambda v: v, lambda v: age(v, 10), lambda v: age(v, 20), lambda _: "*"],
        "city": [lambda v: v, lambda v: f"{v[:2]}*", lambda v: f"{v[:1]}*", lambda _: "*"],
        "sex": [lambda v: v, lambda _: "*"],
    }
    best = 2.0
    for node in product(*(range(len(forms[name])) for name in QI)):
        coarse = pl.DataFrame(
            {
                name: [forms[name][level](value) for value in frame[name]]
                for name, level in zip(QI, node, strict=True)
            }
        )
        remaining = coarse.select(pl.len().over(QI)).to_series() >= k
        if len(frame) - remaining.sum() <= suppression * len(frame):
            best = min(best, entropy_loss(frame.select(QI), coarse, remaining, weights))
    return best


@pytest.mark.parametrize(("k", "suppression"), [(3, 0.0), (5, 0.02), (5, 0.1), (40, 0.0)])
def test_the_release_loses_what_the_best_of_all_forms_loses(
    tmp_path: Path, table: pl.DataFrame, k: int, suppression: float
) -> None:
    text = policy(
        "people.parquet", QI, K.format(k), prepare=f"suppression = {suppression}\n{HIERARCHIES}"
    )
    made = run(written(tmp_path, text))
    assert made.passed
    assert made.tables[0].result.optimal
    assert lost(made) == pytest.approx(exhaustive(table, k, suppression))
    released = made_by(made.sql, "people_released")
    assert class_sizes(released, QI)[0] >= k
    assert len(released) >= (1 - suppression) * len(table)
    assert made.page["report"]["tables"][0]["records"] == len(released)


@pytest.mark.parametrize(
    "weights", [{"sex": 20.0}, {"age": 5.0, "city": 0.1}, {"city": 30.0, "sex": 0.5}]
)
@pytest.mark.parametrize("suppression", [0.0, 0.05])
def test_the_loss_with_weights_is_the_least_of_all_forms(
    tmp_path: Path, table: pl.DataFrame, weights: dict[str, float], suppression: float
) -> None:
    listed = "\n".join(f"weights.{name} = {weight}" for name, weight in weights.items())
    asked = f"suppression = {suppression}\n{HIERARCHIES}\n{listed}"
    made = run(written(tmp_path, policy("people.parquet", QI, K.format(5), prepare=asked)))
    assert made.passed
    assert made.tables[0].result.optimal
    assert lost(made) == pytest.approx(exhaustive(table, 5, suppression, weights))
    columns = made.page["tables"][0]["columns"]
    assert {each["column"]: each["weight"] for each in columns if each["weight"] != 1} == weights


def test_the_polars_file_gives_what_the_sql_gives(tmp_path: Path, table: pl.DataFrame) -> None:
    text = policy(
        "people.parquet", QI, K.format(5), prepare=HIERARCHIES, table='sensitive = ["diagnosis"]'
    )
    made = reid_sql.prepare.prepare(written(tmp_path, text))
    space: dict[str, Any] = {}
    exec(made.python, space)  # noqa: S102 - as a reader runs it
    by_polars = space["released_people"](table).collect()
    by_sql = made_by(made.sql, "people_released")
    (page,) = made.page["tables"]
    blank = [each["column"] for each in page["columns"] if each["form"].endswith(" left out")]
    assert page["columns_blank"] == blank
    named = [name for name in (*QI, "diagnosis") if name not in blank]
    assert by_polars.columns == by_sql.columns == page["columns_released"] == named
    names = by_sql.columns
    assert sorted(map(repr, by_polars.rows())) == sorted(map(repr, by_sql.select(names).rows()))


def test_columns_that_no_check_names_are_left_out_unless_they_are_kept(
    tmp_path: Path, table: pl.DataFrame
) -> None:
    text = policy("people.parquet", QI, K.format(5), prepare='keep = ["diagnosis"]')
    made = run(written(tmp_path, text))
    blank = made.page["tables"][0]["columns_blank"]
    assert set(made_by(made.sql, "people_released").columns) == {*QI, "diagnosis"} - {*blank}
    assert made.page["tables"][0]["columns_left_out"] == ["name"]
    assert "Person 1" not in made.sql
    assert len(table) == 300


def test_the_source_stays_as_it_is(tmp_path: Path, table: pl.DataFrame) -> None:
    before = (tmp_path / "people.parquet").read_bytes()
    run(written(tmp_path, policy("people.parquet", QI, K.format(5))))
    assert (tmp_path / "people.parquet").read_bytes() == before
    assert len(table) == 300


@pytest.mark.parametrize("nulls", ["value", "drop", "wildcard"])
def test_no_record_hides_behind_its_missing_values(tmp_path: Path, nulls: str) -> None:
    """Records without a value form classes of their own; what `drop` or `wildcard` would forgive is not."""
    frame = people(200, seed=4).with_columns(
        age=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("age")),
        city=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise(pl.col("city")),
    )
    frame.write_parquet(tmp_path / "people.parquet")
    text = policy(
        "people.parquet", QI, K.format(5), prepare=HIERARCHIES, table=f'nulls = "{nulls}"'
    )
    made = run(written(tmp_path, text))
    assert made.passed
    assert made.page["tables"][0]["optimal"] == (nulls == "value")
    assert class_sizes(made_by(made.sql, "people_released"), QI)[0] >= 5


def test_few_records_left_out_are_not_reported(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 30] * 100 + [90, 91, 92], "sex": ["F", "M"] * 101 + ["F"]})
    frame.write_parquet(tmp_path / "people.parquet")
    prepare = "suppression = 0.02\nhierarchies.age = []\nhierarchies.sex = []"
    made = run(
        written(tmp_path, policy("people.parquet", ["age", "sex"], K.format(5), prepare=prepare))
    )
    reported = made.page["tables"][0]
    assert len(made_by(made.sql, "people_released")) == 200
    assert reported["suppressed_share"] is None
    shares = [row["records_below_k"] for row in reported["frontier"]]
    assert all(share == 0 or share >= 10 / 203 - 1e-9 for share in shares)
    folder = os.path.relpath(tmp_path)  # whose name may hold any digits
    assert "90" not in made.sql.replace(folder, "")


def test_the_query_of_an_integer_column_is_short_and_has_no_absolute_path(
    tmp_path: Path, table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "all[1].parquet")
    monkeypatch.chdir(tmp_path)
    steps = "hierarchies.age = [{ bands = 20 }]\nhierarchies.sex = []"
    population = 'population_file = "all[1].parquet"'  # the ages are text there
    found = 'measure = "journalist_highest_risk"\nat_most = 0.2'
    made = run(
        written(
            tmp_path,
            policy("people.parquet", ["age", "sex"], found, prepare=steps, table=population),
        )
    )
    assert made.passed
    assert 'floor("age" / 20) * 20' in made.sql
    assert "regexp" not in made.sql
    assert str(tmp_path) not in made.sql
    assert class_sizes(made_by(made.sql, "people_released"), ["age", "sex"])[0] >= 5


@pytest.mark.parametrize("few", [1, 4, 9])
@pytest.mark.parametrize("cells", ["false", "true"])
def test_no_rate_of_a_target_tells_how_few_are_left_out(
    tmp_path: Path, few: int, cells: str
) -> None:
    """Each class has one value of the target: only those that are left out are predicted wrongly."""
    ages = [20] * 100 + [30] * (200 - few) + list(range(90, 90 + few))
    ill = ["yes" if age == 20 else "no" for age in ages]
    frame = pl.DataFrame({"age": ages, "sex": ["F", "M"] * 150, "ill": ill})
    frame.write_parquet(tmp_path / "people.parquet")
    prepare = f'suppression = 0.05\ncells = {cells}\ntarget = "ill"\nhierarchies.age = []\nhierarchies.sex = []'
    made = run(
        written(tmp_path, policy("people.parquet", ["age", "sex"], K.format(10), prepare=prepare))
    )
    reported = made.page["tables"][0]
    assert len(made_by(made.sql, "people_released").drop_nulls()) == 300 - few
    assert None in {reported["suppressed_share"], reported["blank_share"]}
    rates = json.loads(json.dumps(reported["target"]))
    shares = [rates["expected_error"], rates["classification_metric"], rates["released"]["error"]]
    assert [
        share for share in shares if 0 < round(300 * share) < 10 or 290 < round(300 * share) < 300
    ] == []
    assert rates["classification_metric"] == 0


def test_a_rare_value_of_a_target_is_masked(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 30] * 150, "ill": ["rare"] * 3 + ["none"] * 297})
    frame.write_parquet(tmp_path / "people.parquet")
    prepare = 'target = "ill"\nhierarchies.age = []'
    made = run(written(tmp_path, policy("people.parquet", ["age"], K.format(10), prepare=prepare)))
    reported = made.page["tables"][0]["target"]
    for share in (
        reported["expected_error"],
        reported["classification_metric"],
        reported["released"]["error"],
    ):
        assert share == pytest.approx(10 / 300, abs=1e-4)


def test_rare_values_are_not_named_by_the_sql(tmp_path: Path) -> None:
    frame = pl.DataFrame({"town": ["A"] * 500 + ["B"] * 480 + [f"rare {at}" for at in range(20)]})
    frame.write_parquet(tmp_path / "people.parquet")
    made = run(written(tmp_path, policy("people.parquet", ["town"], K.format(5))))
    assert made.passed
    assert "rare 7" not in made.sql
    assert class_sizes(made_by(made.sql, "people_released"), ["town"]) == [20, 480, 500]


L = 'measure = "l_diversity"\nvariant = "distinct"\nat_least = {}'


def test_a_release_may_leave_every_quasi_identifier_out(
    tmp_path: Path, table: pl.DataFrame
) -> None:
    text = policy(
        "people.parquet", QI, K.format(300), L.format(3), table='sensitive = ["diagnosis"]'
    )
    made = run(written(tmp_path, text))
    assert made.passed
    released = made_by(made.sql, "people_released")
    assert class_sizes(released, QI) == [300]
    space: dict[str, Any] = {}
    exec(made.python, space)  # noqa: S102 - as a reader runs it
    assert sorted(space["released_people"](table).collect().rows()) == sorted(released.rows())
    alone = run(written(tmp_path, policy("people.parquet", QI, K.format(300))))
    exec(alone.python, space)  # noqa: S102 - constants alone
    assert space["released_people"](table).collect().rows() == [("*", "*", "*")] * 300


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    people(0).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(
        ReidError, match="a table to prepare must have a record, got none in people"
    ):
        run(written(tmp_path, policy("people.parquet", QI, K.format(5))))


def test_a_table_without_a_form_that_meets_the_policy_has_no_release(
    tmp_path: Path, table: pl.DataFrame
) -> None:
    made = run(written(tmp_path, policy("people.parquet", QI, K.format(301))))
    assert (made.verdict, made.exit_code, made.report) == ("fail", 1, None)
    assert made.page["tables"][0]["none_meets"]
    with pytest.raises(ReidError, match="a release must pass the policy to be written, got fail"):
        _ = made.sql
    assert len(table) == 300


@pytest.mark.parametrize("loss", ["entropy", "discernibility", "class_size"])
def test_every_loss_gives_a_release_that_passes(
    tmp_path: Path, table: pl.DataFrame, loss: str
) -> None:
    made = run(
        written(tmp_path, policy("people.parquet", QI, K.format(5), prepare=f'loss = "{loss}"'))
    )
    assert made.passed
    assert made.page["tables"][0]["optimal"]
    assert class_sizes(made_by(made.sql, "people_released"), QI)[0] >= 5
    assert len(table) == 300


REFUSED = [
    ("suppression = 0.6", "", "policy prepare.suppression must be a share from 0 to 0.5, got 0.6"),
    (
        "suppression = true",
        "",
        "policy prepare.suppression must be a share from 0 to 0.5, got True",
    ),
    (
        'loss = "bits"',
        "",
        "policy prepare.loss must be one of 'entropy', 'discernibility', 'class_size'",
    ),
    (
        "time_limit = 0",
        "",
        "policy prepare.time_limit must be a number of seconds from 1 to 1e6, got 0",
    ),
    ("suppress = 0.1", "", "policy prepare must have only known keys, got 'suppress'"),
    (
        "hierarchies.agee = []",
        "",
        "policy prepare.hierarchies must name quasi-identifiers of the policy, got 'agee'",
    ),
    (
        "hierarchies.age = []\nladders.age = []",
        "",
        "policy prepare must have one of the keys hierarchies and ladders (its older name), got both",
    ),
    (
        'keep = ["nme"]',
        "",
        "policy prepare.keep must name columns of people, got 'nme'; did you mean 'name'?",
    ),
    (
        "weights.ages = 2",
        "",
        "policy prepare.weights must name quasi-identifiers of the policy, got 'ages'; did you mean 'age'?",
    ),
    (
        "weights.age = 0",
        "",
        "policy prepare.weights.age must be a number from 0.001 to 1000, got 0",
    ),
    (
        'weights.age = 2\nloss = "class_size"',
        "",
        "policy prepare.weights must come with loss = 'entropy', the only loss of columns, got 'class_size'",
    ),
    ('method = "locally"', "", "policy prepare.method must be one of"),
    (
        "hierarchies.age = [{ bands = 10 }, { bands = 15 }]",
        "",
        "prepare.hierarchies.age[2] must merge values of the step before it, got 'in bands of 15'",
    ),
]


@pytest.mark.parametrize(("prepare", "more", "refusal"), REFUSED)
def test_what_cannot_be_prepared_is_refused_in_one_sentence(
    tmp_path: Path, table: pl.DataFrame, prepare: str, more: str, refusal: str
) -> None:
    file = written(tmp_path, policy("people.parquet", QI, K.format(5), prepare=prepare, table=more))
    ended = asked(str(file))
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"reid-sql: {refusal}")
    assert ended.stderr.count("\n") == 1
    assert len(table) == 300


def asked(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command("prepare", *arguments)


def test_no_file_is_written_where_there_is_no_release(tmp_path: Path, table: pl.DataFrame) -> None:
    file = written(tmp_path, policy("people.parquet", QI, K.format(301)))
    ended = asked(str(file), "--sql", str(tmp_path / "r.sql"))
    assert ended.returncode == 1
    assert "is not written, as no release was found that meets the policy" in ended.stderr
    assert not (tmp_path / "r.sql").exists()
    assert len(table) == 300


def test_blank_values_do_not_break_another_check(tmp_path: Path) -> None:
    frame = people(400, seed=2).with_columns(
        diagnosis=pl.when(pl.col("age") > 60).then(pl.lit("A")).otherwise("diagnosis")
    )
    frame.write_parquet(tmp_path / "people.parquet")
    prepare = f"suppression = 0.2\ncells = true\n{HIERARCHIES}"
    sensitive = 'sensitive = ["diagnosis"]'
    made = run(
        written(
            tmp_path,
            policy(
                "people.parquet", QI, K.format(5), L.format(2), prepare=prepare, table=sensitive
            ),
        )
    )
    released = made_by(made.sql, "people_released")
    assert made.passed
    assert class_sizes(released, QI)[0] >= 5
    assert (
        min(
            released.group_by(present(released, QI))
            .agg(pl.col("diagnosis").n_unique())["diagnosis"]
            .to_list()
        )
        >= 2
    )


def ill(records: int = 400, seed: int = 7) -> pl.DataFrame:
    """People of whom some combinations tell the diagnosis, or nearly."""
    frame = people(records, seed)
    old = (pl.col("age") > 64) & (pl.col("city") == "2345")
    return frame.with_columns(diagnosis=pl.when(old).then(pl.lit("A")).otherwise("diagnosis"))


def shares(rows: pl.Series) -> dict[str, float]:
    return {value: count / len(rows) for value, count in rows.value_counts().iter_rows()}


def distance(rows: pl.Series, table: pl.Series) -> float:
    """Total variation, value by value."""
    own, whole = shares(rows), shares(table)
    return sum(abs(own.get(value, 0.0) - each) for value, each in whole.items()) / 2


HELD: list[tuple[str, float, Any]] = [
    ("l_diversity", 2, lambda rows, _: len(set(rows))),
    ("l_diversity", 3, lambda rows, _: len(set(rows))),
    (
        'l_diversity"\nvariant = "entropy',
        2.2,
        lambda rows, _: np.exp(-sum(p * np.log(p) for p in shares(rows).values())),
    ),
    ("t_closeness", 0.25, lambda rows, table: -distance(rows, table)),
    ("alpha_k_anonymity", 0.6, lambda rows, _: -max(shares(rows).values())),
]


@pytest.mark.parametrize(("measure", "limit", "members"), HELD)
def test_classes_that_break_a_rule_on_values_are_left_out(
    tmp_path: Path, measure: str, limit: float, members: Any
) -> None:
    """The SQL and the Polars file leave out the same records; every class that stays holds the limit."""
    ill().write_parquet(tmp_path / "people.parquet")
    upper = measure in {"t_closeness", "alpha_k_anonymity"}
    check = f'measure = "{measure}"\n{"at_most" if upper else "at_least"} = {limit}'
    prepare = f'suppression = 0.2\nkeep = ["name"]\n{HIERARCHIES}'
    sensitive = 'sensitive = ["diagnosis"]'
    text = policy("people.parquet", QI, K.format(3), check, prepare=prepare, table=sensitive)
    made = run(written(tmp_path, text))
    assert made.passed
    assert made.tables[0].result.optimal
    assert made.tables[0].left_to_gate == ()
    released = made_by(made.sql, "people_released")
    classes = [rows["diagnosis"] for rows in released.partition_by(present(released, QI))]
    assert min(len(rows) for rows in classes) >= 3
    least = -limit if upper else limit
    assert min(members(rows, released["diagnosis"]) for rows in classes) >= least - 1e-9
    reported = made.page["tables"][0]
    assert reported["suppressed_for"]
    assert (reported["suppressed_share"] or 0.02) <= 0.2
    space: dict[str, Any] = {}
    exec(made.python, space)  # noqa: S102 - as a reader runs it
    by_polars = space["released_people"](ill()).collect().sort("name")
    assert by_polars.with_columns(pl.all().cast(pl.String)).equals(
        released.sort("name").with_columns(pl.all().cast(pl.String))
    )


def test_a_column_named_like_a_step_of_the_query_is_refused(
    tmp_path: Path, table: pl.DataFrame
) -> None:
    table.rename({"name": "reid_size"}).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(ReidError, match="no column whose name begins with reid_, got 'reid_size'"):
        run(written(tmp_path, policy("people.parquet", QI, K.format(5))))


@pytest.mark.parametrize(
    ("target", "refusal"),
    [
        ("nam", "prepare.target must name a column of people, got 'nam'; did you mean 'name'?"),
        ("age", "prepare.target must not be a quasi-identifier, got 'age'"),
        ("name", "prepare.target must have at most 50 distinct values, got 'name' with 300"),
    ],
)
def test_a_target_that_cannot_be_is_refused(
    tmp_path: Path, table: pl.DataFrame, target: str, refusal: str
) -> None:
    file = written(tmp_path, policy("people.parquet", QI, K.format(5)))
    with pytest.raises(ReidError, match=refusal.replace("?", r"\?")):
        reid_sql.prepare.prepare(file, target=target)
    assert len(table) == 300
