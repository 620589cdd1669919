"""safe_table against a loop over the records, on DuckDB and Polars; what it hides is audited."""

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from itertools import combinations
from typing import Any, Final

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.reductions.tables import SAFE_CELLS
from tests.cells import each_cell
from tests.engines.asking import refusal
from tests.processes import python

Row = dict[str, Any]
BY = ("region", "sex")


def people(seed: int, rows: int = 70) -> pl.DataFrame:
    """Rows of people, of whom some have several; with NULLs, negative values and a dominant one."""
    rng = np.random.default_rng(seed)
    values = [
        None if rng.random() < 0.1 else float(np.round(rng.exponential(9) - 2, 3))
        for _ in range(rows)
    ]
    values[0] = 500.0
    return pl.DataFrame(
        {
            "who": [n % 45 for n in range(rows)],
            "region": [["N", "S", None, "W"][int(x)] for x in rng.integers(0, 4, rows)],
            "sex": ["FMX"[int(x)] for x in rng.choice(3, rows, p=[0.6, 0.35, 0.05])],
            "cost": values,
        }
    )


def judged(  # noqa: PLR0917 - a table and the rules
    rows: Sequence[Row],
    by: Sequence[str],
    entity: str | None,
    k: int,
    n: int,
    share: float,
    p: float,
) -> Any:
    """The figures and the broken rules of every cell of every set of totals, record by record."""
    cells: dict[tuple[Any, ...], list[tuple[Any, float | None]]] = defaultdict(list)
    for place, row in enumerate(rows):
        person = place if entity is None else row[entity]
        for size in range(len(by) + 1):
            for over in combinations(by, size):
                cells[over, tuple(None if c in over else row[c] for c in by)].append(
                    (person, row["cost"])
                )
    found = {}
    for (over, key), members in cells.items():
        sums: dict[Any, float] = defaultdict(float)
        for person, value in members:
            sums[person] += value or 0.0
        sizes = sorted((abs(value) for value in sums.values()), reverse=True)
        total, persons = sum(sizes), set(sums)
        rules = ["few_people"] * (len(persons) < k)
        rules += ["dominance"] * (total > 0 and sum(sizes[:n]) > share * total)
        rules += ["p_percent"] * (total > 0 and total - sum(sizes[:2]) < p * sizes[0])
        for place, column in enumerate(by):
            if column not in over and len({row[column] for row in rows}) > 1:
                margin = tuple(None if o == place else c for o, c in enumerate(key))
                wider = tuple(c for c in by if c in {*over, column})
                if {person for person, _ in cells[wider, margin]} == persons:
                    rules += ["all_in_one_cell"] * ("all_in_one_cell" not in rules)
        known = [value for _, value in members if value is not None]
        value_sum = math.fsum(known) if known else None
        found[over, key] = (len(members), len(persons), value_sum, rules)
    return found


@each_cell("entity", [None, "who"])
@each_cell("seed", range(4))
@each_cell("dominance", [[1, 0.5], [3, 0.8]])
@pytest.mark.first(cells=5)
def test_cells_and_rules_are_those_of_a_loop(
    entity: str | None, seed: int, dominance: list[float]
) -> None:
    frame = people(seed)
    asked: Any = {
        "value": "cost",
        "entity": entity,
        "k": 4,
        "dominance": dominance,
        "totals": "margins",
    }
    expected = judged(frame.rows(named=True), BY, entity, 4, int(dominance[0]), dominance[1], 0.1)
    with duckdb.connect() as con:
        in_sql = reid_sql.safe_table(con, frame, BY, **asked).pl()
    for answer in (in_sql, rp.safe_table(frame, BY, **asked).collect()):
        assert len(answer) == len(expected)
        for row in answer.rows(named=True):
            key = tuple(None if c in row["total_over"] else row[c] for c in BY)
            records, persons, value_sum, rules = expected[tuple(row["total_over"]), key]
            assert (row["records"], row["people"], row["unsafe"]) == (records, persons, rules)
            assert row["value_sum"] == (None if value_sum is None else pytest.approx(value_sum))
            to_hide = {*rules} - {"all_in_one_cell"}  # hiding does not help against the fourth rule
            assert (row["status"], row["loss"]) == ("unsafe" if to_hide else "published", 0.0)


def test_what_secondary_suppression_hides_cannot_be_computed() -> None:
    frame = people(1, 300).with_columns(area=pl.col("region").fill_null("W") + pl.col("sex"))
    asked: Any = (BY, "margins"), (("region", "area"), "rollup"), (("sex",), "margins")
    for by, totals in asked:
        hidden = rp.safe_table(frame, by, totals=totals, k=9, suppress="secondary").collect()
        primary = rp.safe_table(frame, by, totals=totals, k=9, suppress="primary").collect()
        few = sum("few_people" in rules for rules in primary["unsafe"].to_list())
        assert primary["records"].null_count() == few <= hidden["records"].null_count()
        found = rp.audit_tables([hidden], k=9).collect()
        assert set(found["finding"]) <= {"protected"}
        assert all(width is None or width >= 9 for width in found["width"])


def towns(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    region, town = rng.integers(0, 3, (2, 400))
    names = [f"{a}{b}" for a, b in zip(region, town, strict=True)]
    drug = [["a", "b", "c", None][each] for each in rng.choice(4, 400, p=[0.6, 0.3, 0.07, 0.03])]
    return pl.DataFrame(
        {"region": region, "town": names, "drug": drug, "sex": rng.choice(["F", "M"], 400)}
    )


LINKED: Any = [
    (
        ["region", "town", "drug"],
        {"levels": ["region > town"]},
        {"region,town,drug", "region,drug", "drug", ""},
    ),
    (
        ["region", "drug", "sex"],
        {"tables": ["region, drug", "drug, sex"]},
        {"region,drug", "drug,sex", "drug"},
    ),
]


@pytest.mark.parametrize(("by", "asked", "sets"), LINKED, ids=["levels", "tables"])
@pytest.mark.first(cells=1)
def test_linked_tables_are_protected_together_after_an_earlier_one(
    by: list[str], asked: Any, sets: set[str]
) -> None:
    """In SQL and Polars: what is listed, what stays hidden, and what the audit of all tables finds."""
    frame = towns(2)
    count: Any = {"totals": "margins", "suppress": "secondary", **asked}
    earlier = rp.safe_table(frame, ["region", "drug"], suppress="primary").collect()
    tables = {}
    for published in (None, [earlier]):
        made = rp.safe_table(frame, by, **count, published=published).collect()
        with duckdb.connect() as con:
            assert (
                reid_sql.safe_table(con, frame, by, **count, published=published).pl().equals(made)
            )
        listed = {",".join(c for c in by if c not in over) for over in made["total_over"].to_list()}
        assert listed >= sets
        assert not listed & {"town", "town,drug", "region,sex", "region,drug,sex"}
        found = rp.audit_tables([made, *(published or [])]).collect()
        shown = {c: pl.when(~pl.col("total_over").list.contains(c)).then(pl.col(c)) for c in by}
        in_vain = made.filter(status="unprotected").select(**shown).rows()
        revealed = found.filter(pl.col("finding") != "protected")["categories"].to_list()
        assert len(revealed) <= len(in_vain)
        assert made["loss"][0] > 0
        assert published or not in_vain
        tables[published is None] = {
            (row["region"], row["drug"]): row["records"]
            for row in made.rows(named=True)
            if len(row["total_over"]) == 1 and not {"region", "drug"} & {*row["total_over"]}
        }
    for row in earlier.rows(named=True):
        assert tables[False][row["region"], row["drug"]] == row["records"]
    assert tables[False] != tables[True] or by[1] == "drug"


def test_zeros_of_a_hierarchy_are_of_categories_that_there_are() -> None:
    frame = towns(3)
    asked: Any = {"levels": ["region > town"], "zeros": "list"}
    cells = rp.safe_table(frame, ["region", "town", "drug"], **asked).collect()
    pairs = set(frame.select("region", "town").rows())
    assert set(cells.select("region", "town").rows()) == pairs
    assert len(cells) == len(pairs) * 4


def test_primary_suppression_alone_is_seen_through() -> None:
    frame = people(1, 300)
    found = rp.audit_tables(
        rp.safe_table(frame, BY, totals="margins", k=9, suppress="primary"), k=9
    ).collect()
    assert "recovered" in found["finding"].to_list()


@each_cell(
    "asked, words",
    [
        ({"dominance": [1]}, "dominance must be a whole number of people and a share"),
        ({"dominance": [0, 0.5]}, "dominance must be a whole number"),
        ({"dominance": [1.5, 0.5]}, "dominance must be a whole number"),
        ({"k": 0}, "k must be a whole number of people from 1"),
        ({"levels": ["region"]}, "levels must be of two columns or more"),
        (
            {"levels": ["region > town"]},
            "levels must be of columns of by, separated by >, got 'town'",
        ),
        (
            {"tables": ["region, drug"]},
            "tables must be of columns of by, separated by ,, got 'drug'",
        ),
        ({"published": [people(1)]}, "published must come with suppress := 'secondary'"),
        (
            {"published": [people(1)], "suppress": "secondary"},
            "count must be a column of every table",
        ),
        ({"suppress": "secondry"}, "did you mean 'secondary'"),
        ({"totals": "cube"}, "totals must be one of"),
        ({"value": "sex"}, "value must be no column of by"),
        ({"value": "name"}, "value must be a column of finite numbers, got another value"),
        ({"value": "day"}, "value must be a column of finite numbers, got another value"),
        ({"entity": "region"}, "entity must not be a quasi-identifier"),
        ({"value": "csot"}, "did you mean 'cost'"),
        ({"by": ["regoin"]}, "did you mean 'region'"),
        ({"by": ["records"]}, "by must not name a column of the answer"),
    ],
)
def test_refusals_are_one_sentence_on_both_engines(asked: Row, words: str) -> None:
    frame = people(0).with_columns(name=pl.lit("Alice"), records=1, day=date(2020, 1, 1))
    given = {"by": list(BY), **asked}
    sentences = []
    with duckdb.connect() as con, pytest.raises(ReidError) as refused:
        reid_sql.safe_table(con, frame, **given)
    sentences.append(str(refused.value))
    with pytest.raises(Exception, match=r"(?s).*") as polars:
        rp.safe_table(frame, **given).collect()
    sentences.append(refusal(polars.value))
    assert sentences[0] == sentences[1]
    assert words in sentences[0]
    assert "Alice" not in sentences[0]


@pytest.mark.parametrize("entity", [None, "person"])
@pytest.mark.parametrize(
    ("value", "kind"), [("x", "VARCHAR"), ("nan", "DOUBLE"), ("-inf", "DOUBLE")]
)
def test_a_value_that_is_no_finite_number_is_refused_from_every_column(
    con: duckdb.DuckDBPyConnection, value: str, kind: str, entity: str | None
) -> None:
    """No rule of dominance would find its cell unsafe; DuckDB computes no column that nobody selects."""
    con.execute(f"""CREATE TABLE paid AS SELECT i % 2 AS town, i % 5 AS person,
        CASE WHEN i = 7 THEN '{value}' ELSE i::VARCHAR END::{kind} AS cost FROM range(20) AS t(i)""")
    asked = f"FROM safe_table(paid, 'town', value := 'cost', entity := {repr(entity) if entity else 'NULL'})"
    for column in (*SAFE_CELLS.columns, "town", "count(*)"):
        with pytest.raises(
            duckdb.Error, match="must be a column of finite numbers, got another value"
        ):
            con.execute(f"SELECT {column} {asked}").fetchall()
    with pytest.raises(Exception, match="must be a column of finite numbers, got another value"):
        rp.safe_table(con.table("paid"), "town", value="cost", entity=entity).collect()


@pytest.mark.parametrize(
    "asked", [{}, {"totals": "margins"}, {"totals": "rollup", "suppress": "secondary"}]
)
def test_zeros_are_all_cells_that_the_categories_make(asked: Row) -> None:
    """NULL is a category; a zero is neither hidden nor counted in the loss."""
    frame = people(5, 25).with_columns(age=pl.col("who") % 3)
    by = [*BY, "age"]
    with duckdb.connect() as con:
        answers = [
            reid_sql.safe_table(con, frame, by, k=2, zeros=zeros, **asked).pl()
            for zeros in ("omit", "list")
        ]
    plain, listed = answers
    assert listed.equals(rp.safe_table(frame, by, k=2, zeros="list", **asked).collect())
    zeros = listed.filter(pl.col("records") == 0)
    assert listed.filter(pl.col("records").is_null() | (pl.col("records") > 0)).equals(plain)
    assert {tuple(rules) for rules in zeros["unsafe"].to_list()} == {("nobody",)}
    assert set(zeros["status"]) == {"published"}
    categories = [frame[name].n_unique() for name in by]
    for over in listed["total_over"].unique().to_list():
        kept = [number for name, number in zip(by, categories, strict=True) if name not in over]
        assert len(listed.filter(pl.col("total_over") == over)) == math.prod(kept)


def test_a_zero_is_published_and_no_small_count() -> None:
    table = pl.DataFrame({"region": ["N", "N", "S"] * 9, "sex": ["F", "M", "F"] * 9})
    listed = rp.safe_table(table, ["region", "sex"], totals="margins", zeros="list")
    assert listed.filter(pl.col("records") == 0).select("region", "sex").collect().rows() == [
        ("S", "M")
    ]
    assert rp.audit_tables([listed]).collect().is_empty()


def test_more_zeros_than_anybody_reads_are_refused() -> None:
    frame = pl.DataFrame({"a": range(1100), "b": range(1100)})
    with pytest.raises(ReidError, match="must make at most 1000000 cells"), duckdb.connect() as con:
        reid_sql.safe_table(con, frame, ["a", "b"], zeros="list").pl()
    with pytest.raises(Exception, match="must make at most 1000000 cells"):
        rp.safe_table(frame, ["a", "b"], zeros="list").collect()


def test_subtotals_of_a_hierarchy_are_compared_with_every_margin() -> None:
    rows = [
        ("N", "a", "F"),
        ("N", "a", "M"),
        ("N", "b", "F"),
        ("S", "c", "M"),
        ("S", "c", "M"),
        ("S", "d", "X"),
    ]
    frame = pl.DataFrame(
        [row for row in rows for _ in range(9)], schema=["region", "sex", "town"], orient="row"
    )
    frame = frame.rename({"sex": "town", "town": "sex"})
    by = ["sex", "region", "town"]
    fine = rp.safe_table(frame, by, totals="margins").collect()
    expected = {
        (tuple(row["total_over"]), *(row[c] for c in by)): row["unsafe"] for row in fine.to_dicts()
    }
    found = rp.safe_table(frame, by, totals="rollup").collect().to_dicts()
    assert {
        row["total_over"] == ["town"] and "all_in_one_cell" in row["unsafe"] for row in found
    } == {
        True,
        False,
    }
    for row in found:  # X lives in S alone, which the subtotals of sex and region show
        assert row["unsafe"] == expected[tuple(row["total_over"]), *(row[c] for c in by)]


def test_what_a_category_determines_is_said_once() -> None:
    rows = [
        {"pregnant": p, "sex": "F" if p == "yes" else s, "region": r, "age": a}
        for p in ("yes", "no")
        for s in "FM"
        for r in "NSW"
        for a in (20, 30)
        for _ in range(9)
    ]
    by = ["pregnant", "sex", "region", "age"]
    with duckdb.connect() as con:
        in_sql = reid_sql.safe_table(con, pl.DataFrame(rows), by, totals="margins").pl()
    for answer in (in_sql, rp.safe_table(pl.DataFrame(rows), by, totals="margins").collect()):
        flagged = {
            rule: [row for row in answer.to_dicts() if rule in row["unsafe"]]
            for rule in ("all_in_one_cell", "determined")
        }
        once = [(row["pregnant"], row["sex"], row["records"]) for row in flagged["all_in_one_cell"]]
        # Everybody who is pregnant is a woman; and every man is not pregnant, which is the same fact.
        assert sorted(once) == [("no", "M", 54), ("yes", "F", 108)]
        assert len(flagged["determined"]) == 2 * (3 * 2 + 3 + 2)
        assert all((row["pregnant"], row["sex"]) != ("no", "F") for row in flagged["determined"])


def test_the_largest_share_is_shown_if_nothing_is_hidden() -> None:
    frame = pl.DataFrame({"a": ["x"] * 9 + ["y"] * 9, "v": [1.0] * 18})
    for suppress in ("none", "primary", "secondary"):
        shown = rp.safe_table(frame, ["a"], value="v", suppress=suppress).collect()
        assert shown["largest_share"].to_list() == pytest.approx([1 / 9, 1 / 9])
    frame = pl.DataFrame({"a": ["x"] * 9 + ["y"], "v": [1.0] * 10})
    assert (
        rp.safe_table(frame, ["a"], value="v", suppress="primary")
        .collect()["largest_share"]
        .is_null()
        .all()
    )


def test_a_view_in_front_of_the_people_shows_what_a_table_would() -> None:
    """Whatever is asked of the view, the same cells are hidden, and the stored table can be audited."""
    frame = people(3, 300).with_columns(pl.col("region").fill_null("X"))
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.register("people", frame)
        cells = (
            "SELECT region, sex, records FROM safe_table(people, ['region', 'sex'], k := 9, "
            "totals := 'margins', suppress := 'secondary')"
        )
        con.execute(f"CREATE TEMP VIEW guard AS {cells}")
        con.execute(f"CREATE TEMP TABLE published AS {cells}")
        published = con.sql("FROM published").fetchall()
        assert any(records is None for *_, records in published)
        assert set(con.sql("FROM guard").fetchall()) == set(published)
        asked = con.sql("FROM guard WHERE sex = 'X'").fetchall()
        assert set(asked) == {row for row in published if row[1] == "X"}
        found = con.sql(
            "SELECT DISTINCT finding FROM audit_tables(['published'], k := 9)"
        ).fetchall()
        assert found == [("protected",)]


@each_cell(
    "values", [[-5.0] * 40, [0.0] * 40, [None] * 40, [900.0] + [0.0] * 39, [-900.0] + [1.0] * 39]
)
@each_cell("k", [3, 100])
def test_contributions_of_any_kind_are_protected(values: list[float | None], k: int) -> None:
    """With k of 100, all cells are unsafe; no figure of an unsafe cell is shown, nor can it be computed."""
    frame = pl.DataFrame({"a": list("xyyz") * 10, "b": list("pppqqqqppq") * 4, "v": values}).cast(
        {"v": pl.Float64}
    )
    asked: Any = {"value": "v", "k": k, "totals": "margins"}
    marked = rp.safe_table(frame, ["a", "b"], **asked).collect()
    hidden = rp.safe_table(frame, ["a", "b"], **asked, suppress="secondary").collect()
    unsafe = [
        bool({"few_people", "dominance", "p_percent"} & set(rules)) for rules in marked["unsafe"]
    ]
    assert hidden.filter(unsafe)[["records", "value_sum"]].null_count().row(0) == (sum(unsafe),) * 2
    assert all(unsafe) or k == 3
    shown = hidden.drop("unsafe", "status", "loss", "largest_share", "people", "value_sum")
    assert set(rp.audit_tables([shown], k=k).collect()["finding"]) <= {"protected"}


def test_firms_of_one_owner_are_one_contributor(con: duckdb.DuckDBPyConnection) -> None:
    """As if the sales of each owner had been added up before; firms alone would look safe."""
    rng = random.Random(8)  # noqa: S311 - a test
    firms = [(rng.choice("ab"), rng.randrange(12), rng.randrange(1, 90)) for _ in range(40)]
    con.execute("CREATE OR REPLACE TEMP TABLE firms (sector VARCHAR, owner INTEGER, sales INTEGER)")
    con.executemany("INSERT INTO firms VALUES (?, ?, ?)", firms)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE owners AS SELECT sector, owner, sum(sales)::INTEGER AS sales FROM firms GROUP BY ALL"
    )
    rules = "['sector'], value := 'sales', k := 3, dominance := [2, 0.3], p_percent := 0.2"
    query = (
        "SELECT sector, people, value_sum, largest_share, unsafe FROM safe_table({}, {}) ORDER BY 1"
    )
    by_owner = con.execute(query.format("firms", f"{rules}, entity := 'owner'")).fetchall()
    assert by_owner == con.execute(query.format("owners", rules)).fetchall()
    assert by_owner != con.execute(query.format("firms", rules)).fetchall()


def test_safe_cells_that_are_published_stay_shown(con: duckdb.DuckDBPyConnection) -> None:
    """Of those that would be hidden beside unsafe ones, none is, where `published` names it."""
    rng = random.Random(5)  # noqa: S311 - a test
    query = """SELECT a, b, total_over, records FROM safe_table(t, ['a', 'b'], totals := 'margins', k := 5{})
        ORDER BY ALL"""
    hidden = 0
    for _ in range(6):
        cells = [(a, b, rng.choice((1, 2, 4, 7, 9))) for a in "pqr" for b in "xyz"]
        con.execute("CREATE OR REPLACE TEMP TABLE t (a VARCHAR, b VARCHAR)")
        con.executemany(
            "INSERT INTO t VALUES (?, ?)", [(a, b) for a, b, n in cells for _ in range(n)]
        )
        con.execute(
            "CREATE OR REPLACE TEMP TABLE kept AS SELECT a, count(*) AS records FROM t GROUP BY a"
        )
        suppressed = ", suppress := 'secondary'"
        free, bound, true = (
            con.execute(query.format(more)).fetchall()
            for more in (suppressed, f"{suppressed}, published := ['kept']", "")
        )
        for without, with_published, counted in zip(free, bound, true, strict=True):
            if counted[2] == ["b"] and counted[3] >= 5:
                assert with_published[3] == counted[3]
                hidden += without[3] is None
    assert hidden  # else nothing was kept


ASK_MANY: Final = """
import random
import duckdb, reid_sql
con = duckdb.connect()
con.execute("SET enable_progress_bar = false")  # else printed after 2 s
reid_sql.register(con)
for seed in range({tables}):
    rng = random.Random(seed)
    cells = [(a, b, rng.choice((1, 2, 4, 7, 9))) for a in "pqrs" for b in "xyzw"]
    con.execute("CREATE OR REPLACE TEMP TABLE t (a VARCHAR, b VARCHAR)")
    con.executemany("INSERT INTO t VALUES (?, ?)", [(a, b) for a, b, n in cells for _ in range(n)])
    con.execute("CREATE OR REPLACE TEMP TABLE kept AS SELECT a, count(*) AS records FROM t GROUP BY a")
    for more in ("", ", published := ['kept']"):
        suppressed = f"totals := 'margins', k := 5, suppress := 'secondary'{more}"
        con.execute(f"FROM safe_table(t, ['a', 'b'], {suppressed})").fetchall()
"""


@pytest.mark.parametrize("tables", [4, 30])
@pytest.mark.first(tables=[4])
def test_nothing_is_printed_beside_the_answer(tables: int) -> None:
    """A solver's own line breaks the JSON of a command; it is in a buffer until the process ends."""
    assert python(ASK_MANY.replace("{tables}", str(tables))) == ""
