"""Bodies that get all distinct records stay within the memory of the machine, or refuse at once."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.client.calls import open_shared_client
from reid_sql.errors import OutOfDomainError
from reid_sql.sources.files import connect_quietly

SCENARIO = {
    "population": 67_000_000,
    "presence_disclosed": 0.5,
    "presence_discovered": 0.5,
    "uniqueness_confirmed": 0.5,
    "link_confirmed": 0.5,
    "groups": [{"columns": ["a"], "probability": 0.3}, {"columns": ["b"], "probability": 0.3}],
}
FRAME = pl.LazyFrame({"row": range(250_000)}).select(
    a=pl.col("row") % 500, b=pl.col("row") // 500, w=pl.lit(3.0)
)
CALLS: dict[str, tuple[int, Callable[[pl.LazyFrame], Any]]] = {
    "loglinear_risk": (1400, lambda frame: rp.loglinear_risk(frame, ["a", "b"], 0.01)),
    "individual_risk": (600, lambda frame: rp.individual_risk(frame, ["a", "b"], weight="w")),
    "adversary_risk": (600, lambda frame: rp.adversary_risk(frame, SCENARIO)),
}


@pytest.fixture
def small_memory() -> Iterator[None]:
    with open_shared_client() as con:
        con.execute("SET memory_limit = '120MB'")
        yield
        con.execute("RESET memory_limit")


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize("name", CALLS)
def test_what_does_not_fit_is_refused_with_the_size(name: str) -> None:
    each, call = CALLS[name]
    sentence = (
        f"memory_limit must be at least {250 * each // 1000} MB for 250000 distinct records, got 114.4 MiB; "
        "raise it (SET memory_limit, --memory-limit or REID_SQL_MEMORY_LIMIT), or pass fewer or coarser columns"
    )
    with pytest.raises(OutOfDomainError) as refused:
        call(FRAME).collect()
    assert sentence in str(refused.value)
    assert call(FRAME.head(100)).collect().height == 100


@pytest.mark.usefixtures("small_memory")
def test_codes_that_do_not_fit_are_refused_with_the_size() -> None:
    frame = pl.LazyFrame({"row": range(700_000)}).select(
        **{name: pl.col("row") * place for place, name in enumerate("abcdefg", 1)}
    )
    needed = "memory_limit must be at least 132 MB for 700000 distinct records of 7 columns, got 114.4 MiB; "
    with pytest.raises(OutOfDomainError, match=needed):
        rp.attribute_risk(frame, list("abcdefg"), 7).collect()


def test_a_variable_of_the_environment_sets_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REID_SQL_MEMORY_LIMIT", "120MB")
    with connect_quietly() as con:
        limit = con.execute("SELECT current_setting('memory_limit')").fetchall()
    assert limit == [("114.4 MiB",)]
    monkeypatch.setenv("REID_SQL_MEMORY_LIMIT", "much")
    with pytest.raises(
        OutOfDomainError,
        match="REID_SQL_MEMORY_LIMIT must be a size, got 'much'; write it like 2GB",
    ):
        connect_quietly()


def test_the_bound_is_most_of_the_memory_of_the_machine() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with open_shared_client() as con:
        number, unit = (
            con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0].split()
        )
    assert 1e8 < float(number) * 1024 ** ["bytes", "KiB", "MiB", "GiB"].index(unit) < 0.81 * machine
