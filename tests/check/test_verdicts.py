import csv
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy import stats

import reid_sql
from reid_sql.check.gate import check
from tests.cells import each_cell

PEOPLE = Path(__file__).parents[2] / "reid_sql" / "demo" / "people.csv"
ROWS = list(csv.DictReader(PEOPLE.read_text(encoding="utf-8").splitlines()))
QI = ["age", "sex", "postcode"]


HEAD = f'[[tables]]\nfile = "{PEOPLE}"\nquasi_identifiers = ["age", "sex", "postcode"]'


def policy(folder: Path, *checks: str, head: str = "") -> Path:
    return tables_policy(folder, "\n".join([head, HEAD, *checks]))


def of(*lines: str) -> str:
    return "\n".join(["[[tables.checks]]", *lines])


def classes(rows: list[dict[str, str]], columns: list[str]) -> list[int]:
    return list(Counter(tuple(row[column] for column in columns) for row in rows).values())


MEASURED: dict[str, Callable[[list[int]], float]] = {
    "k": min,
    "unique_records": lambda sizes: sizes.count(1),
    "uniqueness": lambda sizes: sizes.count(1) / sum(sizes),
    "highest_risk": lambda sizes: 1 / min(sizes),
    "average_risk": lambda sizes: len(sizes) / sum(sizes),
    "average_class_risk": lambda sizes: sum(1 / size for size in sizes) / len(sizes),
    "records_at_risk": lambda sizes: sum(size for size in sizes if size < 5) / sum(sizes),
}


@each_cell("measure", MEASURED)
def test_figures_and_verdicts_are_what_counting_gives(tmp_path: Path, measure: str) -> None:
    true = MEASURED[measure](classes(ROWS, QI))
    bound = "at_least" if measure == "k" else "at_most"
    apart = 1 if measure in ("k", "unique_records") else 0.001
    worse = true + (apart if measure == "k" else -apart)
    page = check(
        policy(
            tmp_path,
            of(f'measure = "{measure}"', f"{bound} = {true}"),
            of(f'measure = "{measure}"', f"{bound} = {worse}"),
        )
    )
    met, broken = (each["groups"][0] for each in page["checks"])
    assert met["value"] == pytest.approx(true)
    assert (met["verdict"], broken["verdict"]) == ("pass", "fail")
    assert (page["verdict"], page["exit_code"]) == ("fail", 1)


def test_each_group_is_judged_by_itself(tmp_path: Path) -> None:
    page = check(
        policy(
            tmp_path,
            of('measure = "unique_records"', "at_most = 55", 'by = ["postcode"]'),
            head="mask_below = 1",
        )
    )
    groups = defaultdict(list)
    for row in ROWS:
        groups[row["postcode"]].append(row)
    true = {code: classes(rows, QI).count(1) for code, rows in groups.items()}
    found = page["checks"][0]["groups"]
    assert {group["group"]["postcode"]: group["value"] for group in found} == true
    assert {group["group"]["postcode"] for group in found if group["verdict"] == "fail"} == {
        c for c, n in true.items() if n > 55
    }
    assert [group["group"]["postcode"] for group in found] == sorted(true)


def test_a_group_by_two_columns_and_own_quasi_identifiers(tmp_path: Path) -> None:
    asked = of(
        'measure = "k"',
        "at_least = 1",
        'by = ["sex", "postcode"]',
        'quasi_identifiers = ["education"]',
    )
    found = check(policy(tmp_path, asked))["checks"][0]["groups"]
    for group in found:
        named = group["group"] or {}
        rows = [row for row in ROWS if all(row[column] == value for column, value in named.items())]
        assert not named or group["value"] == min(classes(rows, ["education"]))


def test_the_risky_end_of_an_interval_is_judged(tmp_path: Path) -> None:
    asked = ['measure = "forecast_correctness"', "population = 1e6"]
    group = check(policy(tmp_path, of(*asked, "at_most = 0.5")))["checks"][0]["groups"][0]
    assert group["low"] < group["value"] < group["high"] == group["judged"]
    between = (group["value"] + group["high"]) / 2
    page = check(
        policy(
            tmp_path,
            of(*asked, f"at_most = {between}"),
            of(*asked, f"at_most = {between}", 'judge_by = "estimate"'),
        )
    )
    assert [each["verdict"] for each in page["checks"]] == ["fail", "pass"]


def test_an_estimate_without_an_answer_is_no_pass(tmp_path: Path) -> None:
    page = check(
        policy(
            tmp_path,
            of('measure = "forecast_correctness"', "population = 10", "at_most = 1"),
            head='name = "x"',
        )
    )
    group = page["checks"][0]["groups"][0]
    assert (page["verdict"], page["exit_code"], group["value"]) == ("not judged", 2, None)
    assert "population must be at least the 3,000 records of the sample" in group["why"]


def test_a_failure_outweighs_what_could_not_be_judged(tmp_path: Path) -> None:
    asked = (
        of('measure = "forecast_correctness"', "population = 10", "at_most = 1"),
        of('measure = "k"', "at_least = 5"),
    )
    assert check(policy(tmp_path, *asked))["exit_code"] == 1


def table(folder: Path, sql: str, name: str = "t.parquet") -> str:
    with duckdb.connect() as con:
        con.execute(f"COPY ({sql}) TO '{folder / name}'")
    return name


def tables_policy(folder: Path, text: str) -> Path:
    file = folder / "policy.toml"
    file.write_text(text, encoding="utf-8")
    return file


NULLS = (
    "SELECT * FROM (VALUES (1, 'x'), (1, 'x'), (1, 'x'), (NULL, 'x'), (2, NULL), (2, NULL)) t(a, b)"
)


@pytest.mark.parametrize(
    ("nulls", "k", "dropped"), [("value", 1, 0), ("drop", 3, 3), ("wildcard", 3, 0)]
)
def test_nulls_are_treated_as_the_policy_says(
    tmp_path: Path, nulls: str, k: int, dropped: int
) -> None:
    file = table(tmp_path, NULLS)
    head = f'mask_below = 1\n[[tables]]\nfile = "{file}"\nnulls = "{nulls}"\nquasi_identifiers = ["a", "b"]'
    text = f'{head}\nchecks = [{{measure = "k", at_least = 1}}]'
    page = check(tables_policy(tmp_path, text))
    assert page["checks"][0]["groups"][0]["value"] == k
    assert page["tables"][0]["records_dropped"] == dropped


def test_groups_where_null_may_be_any_value_are_matched_within_themselves(tmp_path: Path) -> None:
    """From one reading of the table, as by a table for each group."""
    rows = "SELECT hash(i) % 4 AS g, nullif(hash(i, 1) % 5, 0) AS a, nullif(hash(i, 2) % 3, 0) AS b"
    file = table(tmp_path, f"{rows} FROM range(400) t(i)")
    head = f'mask_below = 1\n[[tables]]\nfile = "{file}"\nnulls = "wildcard"\nquasi_identifiers = ["a", "b"]'
    text = f'{head}\nchecks = [{{measure = "average_risk", at_most = 1, by = ["g"]}}]'
    (found,) = check(tables_policy(tmp_path, text))["checks"]
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(f"CREATE TABLE t AS FROM '{tmp_path / file}'")
    assert len(found["groups"]) == 4
    for group in found["groups"]:
        con.execute(f"CREATE OR REPLACE TABLE part AS FROM t WHERE g = {group['group']['g']}")
        asked = "SELECT average_risk FROM risk_summary(part, ['a', 'b'], nulls := 'wildcard')"
        assert [(pytest.approx(group["value"]),)] == con.execute(asked).fetchall()


@pytest.mark.parametrize(
    ("nulls", "cautions"), [("value", []), ("wildcard", ["4 records without any value of a, b"])]
)
def test_blank_records_that_match_everybody_are_cautioned(
    tmp_path: Path, nulls: str, cautions: list[str]
) -> None:
    file = table(
        tmp_path,
        "SELECT * FROM (VALUES (1, 'x'), (2, 'y')) t(a, b) UNION ALL SELECT NULL, NULL FROM range(4)",
    )
    head = f'mask_below = 1\n[[tables]]\nfile = "{file}"\nnulls = "{nulls}"\nquasi_identifiers = ["a", "b"]'
    text = f'{head}\nchecks = [{{measure = "k", at_least = 1}}, {{measure = "average_risk", at_most = 1}}]'
    for each in check(tables_policy(tmp_path, text))["checks"]:
        assert [
            words.split(" match ")[0] for words in each["cautions"] if "without any" in words
        ] == cautions
        assert each["verdict"] == "pass"


def test_missing_value_codes_are_a_caution_and_refused(tmp_path: Path) -> None:
    file = table(
        tmp_path,
        "SELECT i % 3 AS a, CASE WHEN i < 12 THEN '?' ELSE 'b' END AS b FROM range(30) t(i)",
    )
    head = f'cautions = "refuse"\n[[tables]]\nfile = "{file}"\nquasi_identifiers = ["a", "b"]'
    checks = (
        '{measure = "k", at_least = 2}, {measure = "k", at_least = 2, quasi_identifiers = ["a"]}'
    )
    both = check(tables_policy(tmp_path, f"{head}\nchecks = [{checks}]"))["checks"]
    reported = (
        "12 records have '?' in b, which looks like a missing-value code and counts as a value"
    )
    assert [reported in each["cautions"] for each in both] == [True, False]
    assert [each["verdict"] for each in both] == ["not judged", "pass"]


def test_a_null_is_a_group_of_its_own(tmp_path: Path) -> None:
    file = table(tmp_path, NULLS)
    asked = '{measure = "k", at_least = 1, by = ["b"]}, {measure = "separation", at_most = 1, by = ["b"]}'
    text = f'mask_below = 1\n[[tables]]\nfile = "{file}"\nquasi_identifiers = ["a"]\nchecks = [{asked}]'
    page = check(tables_policy(tmp_path, text))
    found = [
        [(group["group"]["b"], group["records"], group["value"]) for group in each["groups"]]
        for each in page["checks"]
    ]
    assert found == [[(None, 2, 2), ("x", 4, 1)], [(None, 2, 0.0), ("x", 4, 0.5)]]


@pytest.mark.parametrize("by", ["", ', by = ["a"]'])
def test_an_empty_table_is_not_judged(tmp_path: Path, by: str) -> None:
    file = table(tmp_path, f"{NULLS} WHERE a > 5")
    text = (
        f'[[tables]]\nfile = "{file}"\nquasi_identifiers = ["a", "b"]\nchecks = '
        f'[{{measure = "k", at_least = 1{by}}}]'
    )
    page = check(tables_policy(tmp_path, text))
    assert (page["exit_code"], page["tables"][0]["records"]) == (2, 0)
    assert "records" in page["checks"][0]["groups"][0]["why"]


def test_one_record_and_duplicates_and_odd_names(tmp_path: Path) -> None:
    one = table(
        tmp_path, """SELECT 'it''s' AS "odd ""name"", with comma", 1 AS select""", "one.parquet"
    )
    two = table(tmp_path, "SELECT 1 AS a FROM range(7)", "same.parquet")
    text = f"""
    [[checks]]
    measure = "k"
    at_least = 2
    [[tables]]
    file = "{one}"
    quasi_identifiers = ['odd "name", with comma', "select"]
    [[tables]]
    file = "{two}"
    quasi_identifiers = ["a"]
    """
    page = check(tables_policy(tmp_path, text))
    assert [
        (each["table"], each["groups"][0]["value"], each["verdict"]) for each in page["checks"]
    ] == [
        ("one", 1, "fail"),
        ("same", 7, "pass"),
    ]


def test_tables_of_a_database_and_a_population_table(tmp_path: Path) -> None:
    database = tmp_path / "house.duckdb"
    with duckdb.connect(database) as con:
        con.execute("CREATE TABLE sample AS SELECT 1 AS a UNION ALL SELECT 2")
        con.execute(
            "CREATE TABLE everybody AS SELECT 1 AS a FROM range(10) UNION ALL SELECT 2 FROM range(4)"
        )
    before = database.read_bytes()
    text = """
    mask_below = 1
    [[tables]]
    file = "house.duckdb"
    table = "sample"
    population_file = "house.duckdb"
    population_table = "everybody"
    quasi_identifiers = ["a"]
    checks = [
        {measure = "journalist_highest_risk", at_most = 0.3},
        {measure = "journalist_average_risk", at_most = 0.1},
    ]
    """
    page: dict[str, Any] = check(tables_policy(tmp_path, text))
    assert [each["groups"][0]["value"] for each in page["checks"]] == [
        0.25,
        pytest.approx((1 / 10 + 1 / 4) / 2),
    ]
    assert [each["verdict"] for each in page["checks"]] == ["pass", "fail"]
    assert page["tables"][0]["name"] == "sample"
    assert database.read_bytes() == before


def test_an_estimate_without_an_interval_can_break_a_limit_but_meet_none(tmp_path: Path) -> None:
    file = table(
        tmp_path, "SELECT i AS key, i % 2 AS a, i % 3 AS b, i % 5 AS c FROM range(60) t(i)"
    )
    text = f'[[tables]]\nfile = "{file}"\nquasi_identifiers = ["key", "a", "b", "c"]'
    checks = (
        "checks = [{measure = 'qar', p = 1, at_most = 0.5}, {measure = 'qar', p = 1, at_most = 1}]"
    )
    found = check(tables_policy(tmp_path, f"{text}\n{checks}"))["checks"]
    assert [(each["groups"][0]["value"], each["groups"][0]["high"]) for each in found] == [
        (1.0, None),
        (1.0, None),
    ]
    assert [each["verdict"] for each in found] == ["fail", "not judged"]


def test_a_share_of_scores_has_the_doubts_of_its_model(tmp_path: Path) -> None:
    """Streets and house numbers are a key together, which no model of pairs of columns can show."""
    for sql, expected in (
        ("SELECT i // 60 AS street, i % 60 AS house FROM range(900) t(i)", "fewer_repeats"),
        ("SELECT i % 30 AS street, i % 7 AS house FROM range(900) t(i)", None),
    ):
        text = (
            f'[[tables]]\nfile = "{table(tmp_path, sql)}"\nquasi_identifiers = ["street", "house"]'
        )
        checks = (
            "checks = [{measure = 'xi_share', population = 5000, threshold = 0.5, at_most = 1}]"
        )
        group = check(tables_policy(tmp_path, f"{text}\n{checks}"))["checks"][0]["groups"][0]
        assert (expected or "ok") in group["status"]


@pytest.mark.all
def test_shares_of_records_under_a_model_are_those_of_the_functions(
    tmp_path: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """By default the table is the sample: who of it shares a row is known, others do by its probability."""
    limits = [
        ("xi_share", "uniqueness_xi", 0.5),
        ("kappa_share", "correctness_kappa", 0.5),
        ("kappa_share", "correctness_kappa", 0.9),
    ]
    listed = ", ".join(
        f'{{measure = "{name}", population = 5000, threshold = {over}, at_most = 1{more}}}'
        for more in (', sample = "ignored"', "")
        for name, _, over in limits
    )
    page = check(policy(tmp_path, f"checks = [{listed}]"))
    con.execute(f"CREATE TABLE people AS FROM read_csv('{PEOPLE}', all_varchar = true)")
    con.execute("FROM fit_copula('town', people, ['age', 'sex', 'postcode'])").fetchall()
    values = [each["groups"][0]["value"] for each in page["checks"]]
    for value, (_, function, over) in zip(values, limits, strict=False):
        sql = (
            f"SELECT count(*) FILTER ({function}('town', 5000, age, sex, "
            f"postcode) > {over}) / count(*) FROM people"
        )
        assert value == pytest.approx(con.execute(sql).fetchall()[0][0])
    sql = "SELECT cell_probability('town', age, sex, postcode), age, sex, postcode FROM people"
    rows = con.execute(sql).fetchall()
    sizes, q = Counter(row[1:] for row in rows), {row[1:]: row[0] for row in rows}
    others = np.arange(5000 - len(rows) + 1)
    chances = {row: stats.binom(len(others) - 1, q[row]).pmf(others) for row in q}
    for value, (_, function, over) in zip(values[3:], limits, strict=True):
        exposed = sum(
            size
            for row, size in sizes.items()
            if (
                chances[row][0] * (size == 1)
                if "xi" in function
                else chances[row] @ (1 / (size + others))
            )
            > over
        )
        assert value == pytest.approx(exposed / len(rows))
    assert len(set(values)) == 6


def test_population_uniqueness_is_that_of_the_method_and_needs_an_interval_to_pass(
    tmp_path: Path, con: duckdb.DuckDBPyConnection
) -> None:
    methods = ("pitman", "loglinear_nb", "snb", "zayatz")
    listed = ", ".join(
        f'{{measure = "population_uniqueness", population = 50000, method = "{name}", at_most = 0.9}}'
        for name in methods
    )
    page = check(policy(tmp_path, f"checks = [{listed}]"))
    con.execute(f"CREATE TABLE people AS FROM read_csv('{PEOPLE}', all_varchar = true)")
    for each, name in zip(page["checks"], methods, strict=True):
        sql = (
            "SELECT uniqueness FROM population_uniqueness(people, ['age', "
            f"'sex', 'postcode'], 50000, method := '{name}')"
        )
        assert each["groups"][0]["value"] == pytest.approx(con.execute(sql).fetchall()[0][0])
    assert [each["verdict"] for each in page["checks"]] == ["pass", *["not judged"] * 3]
