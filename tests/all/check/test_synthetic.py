"""What the first tier leaves of tests/check/test_synthetic.py."""

import json
from pathlib import Path

import duckdb
import pytest

import reid_sql.prepare
from reid_sql.models.synthetic.membership import MEMBERSHIP
from tests.check.test_synthetic import *
from tests.processes import command

MEASURES = {
    "replicated_uniques": ["replicated_uniques"],
    "disclosive_correct": ["disclosive_correct"],
    "singling_out": ["singling_out_univariate", "singling_out_multivariate"],
    "linkability": ["linkability"],
    "attribute_inference": ["inference", "sure_inference", "strongest_inference"],
    "membership_advantage": list(MEMBERSHIP),
}


def test_the_measures_are_the_strongest_of_their_attacks(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    asked = "".join(ask(name, 1) for name in MEASURES)
    call = f"audit_synthetic(o, s, {QI}, sensitive := ['diagnosis'], holdout := h)"
    for name, table in (("o", "original"), ("s", "synthetic"), ("h", "holdout")):
        con.execute(f"CREATE TABLE {name} AS FROM '{folder}/{table}.parquet'")
    judged_rows = (
        f"SELECT attack, excess, low, high FROM {call} WHERE figure <> 'precision' OR low > 0"
    )
    rows = con.execute(judged_rows).fetchall()
    for (name, attacks), found in zip(MEASURES.items(), judged(folder, asked), strict=True):
        worst = max((row for row in rows if row[0] in attacks), key=lambda row: row[3])
        group = found["groups"][0]
        assert found["measure"] == name
        assert [group["value"], group["low"], group["high"]] == pytest.approx(
            list(worst[1:]), abs=1e-11
        )
        assert found["verdict"] == "pass"


def test_its_own_people_pass_where_a_table_of_others_is_released(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """Nothing is in excess of a table whose people are neither of the original nor of the holdout."""
    con.execute(f"COPY (FROM town LIMIT 400 OFFSET 900) TO '{folder}/others.parquet'")
    others = TABLE.replace('"original.parquet"', '"others.parquet"')
    found = judged(
        folder, "".join(ask(name, 0.2) for name in MEASURES if name != "singling_out"), others
    )
    assert {each["verdict"] for each in found} == {"pass"}


def test_tables_in_each_others_role_are_not_judged(folder: Path) -> None:
    """Attacks on people who were not used would be right more often, and no excess would be left."""
    swapped = TABLE.replace("original_file", "x").replace("holdout_file", "original_file")
    found = judged(
        folder, "".join(ask(name, 1) for name in MEASURES), swapped.replace("x =", "holdout_file =")
    )
    assert {each["verdict"] for each in found} == {"not judged"}
    assert {each["groups"][0]["why"].partition(":")[0] for each in found} == {"holdout_exceeds"}


@pytest.mark.parametrize("rows", ["", "WHERE rowid % 3 > 0", "WHERE rowid < 40"])
def test_people_of_both_tables_are_no_control(
    folder: Path, con: duckdb.DuckDBPyConnection, rows: str
) -> None:
    """A holdout that has the original's people, all or some, would take off what is known of them."""
    con.execute(f"CREATE TABLE o AS FROM '{folder}/original.parquet'")
    con.execute(f"CREATE TABLE h AS FROM '{folder}/holdout.parquet' LIMIT 360")
    con.execute(f"COPY (FROM o {rows} UNION ALL FROM h) TO '{folder}/holdout.parquet'")
    found = judged(folder, "".join(ask(name, 1) for name in MEASURES))
    assert {each["verdict"] for each in found} == {"not judged"}
    assert {each["groups"][0]["why"].partition(":")[0] for each in found} == {"holdout_overlaps"}


def test_people_of_several_rows_are_counted_as_people(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """The figure is that of the function; of rows it would be another."""
    for name in ("original", "synthetic", "holdout"):
        numbered = f"SELECT row_number() OVER () // 4 AS person, * FROM '{folder}/{name}.parquet'"
        con.execute(f"CREATE TABLE t AS {numbered}")
        con.execute(f"COPY t TO '{folder}/{name}.parquet'")
        con.execute(f"CREATE TABLE {name[0]} AS FROM t; DROP TABLE t")
    call = (
        f"audit_synthetic(o, s, {QI}, sensitive := ['diagnosis'], holdout := h, entity := 'person')"
    )
    high = con.execute(f"SELECT high FROM {call} WHERE attack = 'linkability'").fetchall()[0][0]
    [found] = judged(folder, ask("linkability", 1), TABLE + 'entity = "person"')
    [of_rows] = judged(folder, ask("linkability", 1))
    assert found["groups"][0]["high"] == pytest.approx(high)
    assert of_rows["groups"][0]["high"] != pytest.approx(high)


def test_the_report_names_the_files_and_a_baseline_is_of_the_same_ones(folder: Path) -> None:
    page = folder / "before.json"
    judged(folder, ask("linkability", 1) + ask("replicated_uniques", 0.01, "no_worse = true"))
    call = ["check", str(folder / "policy.toml")]
    assert command(*call, "--json-report", str(page)).returncode == 1
    before = json.loads(page.read_text(encoding="utf-8"))
    [table] = before["tables"]
    assert (table["original_file"]["file"], table["holdout_file"]["file"]) == (
        "original.parquet",
        "holdout.parquet",
    )
    assert (
        len({table[key]["sha256"] for key in ("original_file", "holdout_file")} | {table["sha256"]})
        == 3
    )
    accepted = [*call, "--baseline", str(page)]
    assert command(*accepted).returncode == 0  # no worse
    (folder / "original.parquet").write_bytes((folder / "synthetic.parquet").read_bytes())
    assert command(*accepted).returncode == 1


def test_a_release_is_prepared_until_it_gives_away_little(folder: Path) -> None:
    """What the table is compared with is made coarser in the same way."""
    (folder / "policy.toml").write_text(
        "[prepare]\nsuppression = 0.02\n"
        + TABLE
        + '[[tables.checks]]\nmeasure = "k"\nat_least = 3\n'
        + ask("replicated_uniques", 0.05),
        encoding="utf-8",
    )
    made = reid_sql.prepare.prepare(folder / "policy.toml")
    assert made.passed
