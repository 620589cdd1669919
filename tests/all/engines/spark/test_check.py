"""The release gate on Spark: figures and verdicts as on DuckDB, and refusals of what it does there alone."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import polars as pl
import pytest

from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.cli import main
from reid_sql.errors import ReidError
from tests.check.towns import PEOPLE, town

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKS = """
sensitive = ["diagnosis"]
checks = [
  { measure = "k", at_least = 5 },
  { measure = "unique_records", at_most = 100, by = ["education"] },
  { measure = "uniqueness", at_most = 0.4, quasi_identifiers = ["age", "sex"] },
  { measure = "records_at_risk", threshold = 0.2, at_most = 0.9 },
  { measure = "forecast_correctness", at_most = 0.05 },
  { measure = "separation", at_most = 0.5 },
  { measure = "separation", at_most = 0.999, by = ["sex"] },
  { measure = "l_diversity", at_least = 2 },
  { measure = "t_closeness_offending", t = 0.3, at_most = 0.9 },
  { measure = "population_uniqueness", method = "pitman", at_most = 0.05 },
  { measure = "qar", p = 1, alpha = 0.1, tail = 0.9, at_most = 0.5 },
  { measure = "xi_share", threshold = 0.5, at_most = 0.2, quasi_identifiers = ["sex", "education"] },
  { measure = "kappa_share", threshold = 1e-3, at_most = 0.2, by = ["sex"], \
    quasi_identifiers = ["sex", "education"] },
  { measure = "adversary_average", scenario = "neighbours.toml", at_most = 0.05 },
  { measure = "forecast_uniqueness", population = 100, at_most = 0.5 },
]
"""
FEW_CHECKS = """
checks = [{ measure = "k", at_least = 5 }, { measure = "records_at_risk", threshold = 0.2, at_most = 0.9 }]
"""
OF_A_RUN = {"versions": None, "digest": None}  # what one engine's report has of its own


def alike(one: Any, other: Any, where: str = "") -> None:
    """Hold two reports to be the same, figures to nine digits."""
    if isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            alike(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            alike(*pair, f"{where}[{place}]")
    else:
        assert one == (pytest.approx(other, rel=1e-9) if isinstance(other, float) else other), where


@pytest.mark.parametrize("nulls", [pytest.param("value", marks=pytest.mark.spark_defaults), "drop"])
def test_verdicts_and_figures_are_those_of_duckdb(tmp_path: Path, nulls: str) -> None:
    policy = town(tmp_path, f'nulls = "{nulls}"\n{CHECKS}')
    expected, found = check(policy), check(policy, engine="spark")
    assert {group["verdict"] for each in expected["checks"] for group in each["groups"]} == {
        "pass",
        "fail",
        "not judged",
    }
    assert found["exit_code"] == expected["exit_code"]
    alike({**found, **OF_A_RUN}, {**expected, **OF_A_RUN})
    assert "pyspark" in found["versions"]


def test_missing_values_may_be_any_value(tmp_path: Path) -> None:
    file = tmp_path / "few.csv"
    file.write_text("age,sex,place\n20,F,a\n20,,a\n,F,b\n30,M,b\n30,M,b\n40,,b\n", encoding="utf-8")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'tables = [{ file = "few.csv", nulls = "wildcard", quasi_identifiers = ["age", "sex"], '
        'population_file = "few.csv", '
        'checks = [{ measure = "k", at_least = 2 }, { measure = "uniqueness", at_most = 0.1, by = ["place"] '
        "}, "
        '{ measure = "journalist_average_risk", at_most = 0.9 }] }]',
        encoding="utf-8",
    )
    expected, found = check(policy, risky=2), check(policy, risky=2, engine="spark")
    alike({**found, **OF_A_RUN}, {**expected, **OF_A_RUN})


def test_tables_of_the_catalogue_and_folders_of_files_have_no_hash(
    spark: "SparkSession", tmp_path: Path, root: Path
) -> None:
    people = spark.read.csv(str(PEOPLE), header=True)
    people.createOrReplaceTempView("people")
    people.repartition(2).write.parquet(str(tmp_path / "people.parquet"))
    policy = tmp_path / "policy.toml"
    checks = 'quasi_identifiers = ["age", "SEX"]\nchecks = [{ measure = "k", at_least = 2 }]'
    policy.write_text(
        f'[[tables]]\nfile = "people"\n{checks}\n[[tables]]\nname = "folder"\nfile = '
        f'"people.parquet"\n{checks}\n'
        f'[[tables]]\nname = "csv"\nfile = "{PEOPLE}"\n{checks}',
        encoding="utf-8",
    )
    page = check(policy, engine="spark")
    assert [table["sha256"] is None for table in page["tables"]] == [True, True, False]
    jsonschema.validate(
        page,
        json.loads(
            (root / "reid_sql" / "check" / "report.schema.json").read_text(encoding="utf-8")
        ),
    )
    assert "no hash, as it is no single file" in render_html(page)
    values = [each["groups"][0]["value"] for each in page["checks"]]
    lines = list(csv.DictReader(PEOPLE.read_text(encoding="utf-8").splitlines()))
    assert values == [min(Counter((line["age"], line["sex"]) for line in lines).values())] * 3


def test_groups_may_be_identified_by_any_value(spark: "SparkSession", tmp_path: Path) -> None:
    frame = spark.sql(
        "FROM VALUES (1, DOUBLE('NaN')), (1, DOUBLE('NaN')), (2, 0.5D), (2, NULL), (3, 0.5D) AS t(age, share)"
    )
    frame.createOrReplaceTempView("shares")
    policy = tmp_path / "policy.toml"
    measured = (
        '{ measure = "k", at_least = 2, by = ["share"] }, { measure = "separation", at_most = 1, by = '
        '["share"] }'
    )
    policy.write_text(
        "mask_below = 1\ntables = "
        f'[{{ file = "shares", quasi_identifiers = ["age"], checks = [{measured}] }}]',
        encoding="utf-8",
    )
    page = check(policy, engine="spark")
    assert [group["value"] for group in page["checks"][0]["groups"]] == [1, 1, 2]
    assert [group["group"]["share"] for group in page["checks"][1]["groups"]] == [
        None,
        "0.5",
        "nan",
    ]


REFUSED = {
    "memory_limit must not be set with --engine spark, got '2GB'; set spark.driver.memory and": (
        CHECKS,
        'memory_limit = "2GB"',
    ),
    "columns of the policy must be columns of the table, got 'agee'; did you mean 'age'?": (
        'checks = [{ measure = "k", at_least = 2, quasi_identifiers = ["agee"] }]',
        "",
    ),
    "policy tables[1].file must be a table or path of Spark where Spark checks, got table 't' of a database "
    "file; write": (
        f'table = "t"\n{CHECKS}',
        "",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_duckdb_alone_does_is_refused_before_counting(tmp_path: Path, sentence: str) -> None:
    with pytest.raises(ReidError) as refused:
        check(town(tmp_path, *REFUSED[sentence]), engine="spark")
    assert sentence in str(refused.value)


def test_a_table_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    for file in ("nowhere", "nowhere.parquet"):
        policy.write_text(
            f'tables = [{{ file = "{file}", quasi_identifiers = ["age"], '
            'checks = [{ measure = "k", at_least = 2 }] }]',
            encoding="utf-8",
        )
        with pytest.raises(
            ReidError, match=rf"must be a table of Spark's catalogue, or a path .*, got '{file}'"
        ) as refused:
            check(policy, engine="spark")
        assert "\n" not in str(refused.value)


def test_the_command_gives_the_same_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = str(town(tmp_path, FEW_CHECKS))
    assert main(["check", policy, "--engine", "spark", "--html", str(tmp_path / "r.html")]) == main(
        ["check", policy]
    )
    assert main(["check", policy, "--engine", "sprak"]) == 2
    assert (
        "--engine must be one of 'duckdb', 'spark', 'ibis', got 'sprak'; did you mean 'spark'?"
        in capsys.readouterr().err
    )


ODD_TEXT = """
[[tables]]
file = "t.csv"
encoding = "{}"
quasi_identifiers = ["a"]
checks = [{{measure = "k", at_least = 1}}]
"""


def test_text_in_latin_1_is_read_as_on_duckdb(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,s\n" + "é,x\n".encode("latin-1") * 30 + b"e,x\n")
    (tmp_path / "policy.toml").write_text(ODD_TEXT.format("latin-1"), encoding="utf-8")
    found = [check(tmp_path / "policy.toml", engine=engine) for engine in ("duckdb", "spark")]
    assert [page["checks"][0]["groups"][0]["value"] for page in found] == [1, 1]
    assert [page["tables"][0]["records"] for page in found] == [31, 31]


def test_lines_that_end_unlike_are_refused_as_on_duckdb(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,s\n" + b"1,x\n" * 15 + b"1,x\r\n" * 15)
    (tmp_path / "policy.toml").write_text(ODD_TEXT.format("utf-8"), encoding="utf-8")
    for engine, words in {
        "duckdb": "its line ends differ",
        "spark": "must end all its lines alike",
    }.items():
        with pytest.raises(ReidError, match=words):
            check(tmp_path / "policy.toml", engine=engine)


def test_few_gaps_are_reported_as_on_duckdb(tmp_path: Path) -> None:
    """Three records lack b alone: what several checks dropped is told as round bounds on both engines."""
    rows = ["x,y,z"] * 60 + [",y,z"] * 40 + [",,z"] * 30 + ["x,,z"] * 3
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *rows]) + "\n", encoding="utf-8")
    checks = ['quasi_identifiers = ["a"]', 'by = ["c"]', 'quasi_identifiers = ["b"], by = ["c"]']
    asked = ", ".join(f'{{measure = "average_risk", at_most = 0.9, {each}}}' for each in checks)
    text = f'[[tables]]\nfile = "t.csv"\nnulls = "drop"\nquasi_identifiers = ["a", "b"]\nchecks = [{asked}]'
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    found, expected = (
        check(tmp_path / "policy.toml", engine=engine) for engine in ("spark", "duckdb")
    )
    alike({**found, **OF_A_RUN}, {**expected, **OF_A_RUN})
    assert all(each["groups"][0]["value"] is None for each in found["checks"])
    assert any("fewer than" in caution for each in found["checks"] for caution in each["cautions"])


@pytest.mark.parametrize(
    ("name", "column", "written"),
    [
        ("lines.ndjson", "x", '{"x": 1}\n{"x": "1"}\n'),
        ("one.json", "x", '[{"x": true}, {"x": "true"}]'),
        ("deep.ndjson", "y", '{"y": {"x": [1]}}\n{"y": {"x": ["1"]}}\n'),
        ("list.ndjson", "x", '{"x": [1]}\n{"x": ["1"]}\n'),
        ("text.ndjson", "x", '{"x": {"a": 1}}\n{"x": "{\\"a\\":1}"}\n'),
        ("odd.ndjson", "a key: `", '{"a key: `": 1}\n{"a key: `": "1"}\n'),
    ],
)
def test_numbers_and_texts_of_json_are_no_one_class(
    tmp_path: Path, name: str, column: str, written: str
) -> None:
    (tmp_path / name).write_text(written, encoding="utf-8")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'tables = [{{ file = "{name}", quasi_identifiers = [{json.dumps(column)}], '
        'checks = [{ measure = "k", at_least = 1 }] }]',
        encoding="utf-8",
    )
    with pytest.raises(
        ReidError, match="must contain values of one kind under each key, got several"
    ):
        check(policy, engine="spark")


def test_values_of_one_kind_are_read_from_json(tmp_path: Path) -> None:
    rows = [
        {"x": 1, "VARIANT": "a", "a: VARIANT": [1, 2.5], "y": {"z": None}},
        {"x": 2.5},
        {"x": None},
    ]
    (tmp_path / "t.ndjson").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )
    policy = tmp_path / "policy.toml"
    policy.write_text(
        "mask_below = 1\n"
        'tables = [{ file = "t.ndjson", quasi_identifiers = ["x", "VARIANT", "a: VARIANT", "y.z"], '
        'checks = [{ measure = "k", at_least = 1 }, { measure = "uniqueness", at_most = 1 }] }]',
        encoding="utf-8",
    )
    found = check(policy, engine="spark")
    assert [group["value"] for each in found["checks"] for group in each["groups"]] == [1, 1]


@pytest.mark.parametrize("kind", ["ndjson", "parquet"])
def test_objects_within_objects_are_columns_as_on_duckdb(kind: str, tmp_path: Path) -> None:
    rows = [
        {"age": i % 3, "home": {"city": "pq"[i % 2], "at": {"lat": i % 5} if i % 7 else None}}
        for i in range(70)
    ]
    (tmp_path / "t.ndjson").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    pl.DataFrame(rows, strict=False).write_parquet(tmp_path / "t.parquet")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'mask_below = 1\ntables = [{{ file = "t.{kind}", quasi_identifiers = ["age", "home.city", "home.at.lat"], '
        'checks = [{ measure = "k", at_least = 1 }, { measure = "average_risk", at_most = 1 }] }]',
        encoding="utf-8",
    )
    found, expected = (check(policy, engine=engine) for engine in ("spark", "duckdb"))
    alike({**found, **OF_A_RUN}, {**expected, **OF_A_RUN})
    classes = {(i % 3, i % 2, i % 5 if i % 7 else None) for i in range(70)}
    assert found["checks"][1]["groups"][0]["value"] == pytest.approx(len(classes) / 70)
