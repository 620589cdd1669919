"""The sums that safe_table shows, against the linear programmes of an attacker over all tables of sums."""

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import reid_sql
import reid_sql.polars as rp
from reid_sql.cli import main

BY = ("region", "branch")
P = 0.5


def firms(seed: int, *, negative: bool = False) -> pl.DataFrame:
    """Contributions of firms, of which some dominate their cell, while no cell has few of them."""
    rng = np.random.default_rng(seed)
    rows = 400
    value = np.round(rng.pareto(1.1, rows) * 10 + 1, 2)
    if negative:
        value[:40] *= -1
    codes = rng.integers(0, [4, 5], (rows, 2))
    return pl.DataFrame({"region": codes[:, 0], "branch": codes[:, 1], "turnover": value})


def protection(values: Any) -> float:
    """By how much more the sum must be possible, by the p % rule."""
    sizes = np.sort(np.abs(values))[::-1]
    return float(P * sizes[0] - (sizes.sum() - sizes[:2].sum()))


def highest(table: list[dict[str, Any]], cell: tuple[Any, ...], *, low: float | None) -> float:
    """The largest sum of a cell that fits all sums that are shown."""
    inner = [(row["region"], row["branch"]) for row in table if not row["total_over"]]
    places = {row: place for place, row in enumerate(inner)}
    known, right = [], []
    sums = {}
    for row in table:
        key = tuple(None if c in row["total_over"] else row[c] for c in BY)
        sums[key] = np.array(
            [float(all(k in {None, o} for k, o in zip(key, own, strict=True))) for own in places]
        )
        if row["value_sum"] is not None:
            known.append(sums[key])
            right.append(row["value_sum"])
    found = linprog(-sums[cell], A_eq=np.array(known), b_eq=np.array(right), bounds=(low, None))
    return float("inf") if found.status == 3 else -float(found.fun)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.first(cells=2)
def test_an_attacker_cannot_estimate_an_unsafe_sum(seed: int, *, negative: bool) -> None:
    frame = firms(seed, negative=negative)
    asked: Any = {
        "value": "turnover",
        "k": 3,
        "dominance": [1, 1.0],
        "p_percent": P,
        "totals": "margins",
    }
    with duckdb.connect() as con:
        table = (
            reid_sql.safe_table(con, frame, BY, **asked, suppress="secondary").pl().rows(named=True)
        )
    unsafe = [row for row in table if "p_percent" in row["unsafe"]]
    assert unsafe
    for row in unsafe:
        key = tuple(None if c in row["total_over"] else row[c] for c in BY)
        wanted = dict(zip(BY, key, strict=True))
        own = frame.filter([pl.col(c) == v for c, v in wanted.items() if v is not None])[
            "turnover"
        ].to_numpy()
        assert row["value_sum"] is None
        most = highest(table, key, low=None if negative else 0.0)
        assert most >= own.sum() + protection(own) * (1 - 1e-9)


def test_the_audit_finds_each_hidden_sum_protected_in_sql_polars_and_by_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody who knows one contribution to a hidden sum estimates its largest one; before, they do."""
    rules: dict[str, Any] = {"dominance": [1, 0.9], "p_percent": P}
    asked: Any = {"value": "turnover", "k": 3, "totals": "margins", **rules}
    by = ", ".join(BY)
    largest = f"SELECT {by}, max(turnover, 2) AS largest FROM firms GROUP BY CUBE ({by})"
    is_same = " AND ".join(f"p.{c} IS NOT DISTINCT FROM c.{c}" for c in BY)
    frame = firms(1)
    how: Any = {"k": 3, "value": "value_sum", **rules}
    findings = {}
    with duckdb.connect() as con:
        con.register("firms", frame)
        for suppress in ("none", "secondary"):
            con.register("p", reid_sql.safe_table(con, frame, BY, **asked, suppress=suppress).pl())
            audited = con.sql(
                f"SELECT p.*, largest FROM p LEFT JOIN ({largest}) AS c ON {is_same}"
            ).pl()
            answer = reid_sql.audit_tables(con, [audited], **how).pl()
            assert rp.audit_tables([audited], **how).collect().equals(answer)
            con.register("audited", audited)
            in_file = f"SELECT {by}, records, value_sum, to_json(largest) AS largest FROM audited"
            con.sql(in_file).write_csv(str(tmp_path / "table.csv"))
            command = [
                "audit",
                str(tmp_path / "table.csv"),
                "--k",
                "3",
                "--value",
                "value_sum",
            ]
            assert main([*command, "--dominance", "1,0.9", "--p-percent", str(P), "--json"]) == 0
            cells = json.loads(capsys.readouterr().out)["cells"]
            assert [each["finding"] for each in cells] == answer["finding"].to_list()
            sums = answer.filter(kind="sum")
            findings[suppress] = {*zip(sums["revealed_by"], sums["finding"], strict=True)}
    assert findings["none"] == {("second_largest", "estimated")}
    assert findings["secondary"] <= {
        ("contributor_of_another_cell", "estimated"),
        (None, "protected"),
    }
