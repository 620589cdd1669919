"""How closed forms are held against mpmath, and the engines against each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import mpmath
import numpy as np
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.function import Function
from reid_sql.function import output_of as find
from reid_sql_udfs import declared
from tests.tables import by_duckdb

PEOPLE = (1.0, 2.0, 3.0, 10.0, 1e3, 54_805.0, 1e6, 67e6, 1e9, 8e9)
SMALLEST = np.finfo(float).tiny


@dataclass(frozen=True)
class Case:
    """Arguments and the exact answer."""

    arguments: tuple[float | None, ...]
    answer: float | None


def grid(least_n: float = 1) -> list[tuple[float, float]]:
    """Probabilities from 1e-15 to 1, near both ends, with populations up to 8e9."""
    near = (
        [10.0**-power for power in range(1, 16)]
        + [1 - 10.0**-power for power in range(1, 16)]
        + [0.25, 0.5, 0.58]
    )
    return [(p, n) for p in near for n in PEOPLE if n >= least_n]


def output_of(key: str) -> Function:
    """The output of this key."""
    return find(key, declared())


def check_mpmath(name: str, oracle: Callable[..., Any], least_n: float = 1) -> None:
    pairs = grid(least_n)
    p, n = np.array(pairs).T
    answers = output_of(name).body(p, n)
    with mpmath.workdps(60):
        for (x, people), answer in zip(pairs, answers, strict=True):
            exact = oracle(mpmath.mpf(x), mpmath.mpf(people))
            if exact > SMALLEST:
                assert abs(answer - exact) <= 1e-12 * exact, (x, people)
            else:
                assert answer <= SMALLEST


def both(
    name: str, parameters: tuple[str, ...], rows: list[tuple[float | None, ...]]
) -> list[list[float | None]]:
    frame = pl.DataFrame(
        rows, schema=dict.fromkeys(parameters, pl.Float64), orient="row"
    ).with_row_index("row")
    output = output_of(name)
    words = [f"{option} := '{word}'" for option, word in output.preset.items()]
    called = f"{output.name}({', '.join([*(f'{each} := {each}' if each == 'k' else each for each in parameters), *words])})"
    sql = f"SELECT {called} AS answer FROM t ORDER BY row"
    columns = dict(zip(parameters, parameters, strict=True))
    call = getattr(rp, output.name)(**columns, **output.preset)
    return [
        [row["answer"] for row in by_duckdb(sql, t=frame)],
        frame.lazy().select(call).collect(engine="streaming")[output.name].to_list(),
    ]


def check_engines(name: str, parameters: tuple[str, ...]) -> None:
    rows: list[tuple[float | None, ...]] = [*grid(), (0.0, 1.0), (1.0, 1.0), (None, 2.0)]
    duck, polars = both(name, parameters, rows)
    assert duck == [
        None if answer is None else pytest.approx(answer, rel=2e-12, abs=1e-300)
        for answer in polars
    ]


def check_limits(name: str, cases: list[Case]) -> None:
    parameters = tuple(parameter.name for parameter in output_of(name).parameters)
    for answers in both(name, parameters, [case.arguments for case in cases]):
        assert answers == [case.answer for case in cases]


def check_pyc(name: str, parameters: tuple[str, ...], cases: Sequence[tuple[float, ...]]) -> None:
    """Hold both engines against figures to four digits, against each other exactly, and against NULL."""
    rows: list[tuple[float | None, ...]] = [case[:-1] for case in cases]
    missing = [(None, *cases[0][1:-1]), (*cases[0][:-2], None)]
    duck, polars = both(name, parameters, [*rows, *missing])
    assert duck == polars
    assert duck == [*(pytest.approx(case[-1], abs=5e-5) for case in cases), None, None]
    with pytest.raises(
        duckdb.Error,
        match="tail must be a tail complexity of at least -20 and at most 1, got tail;",
    ):
        both(name, parameters, [(10.0, 1.1, 1000.0, 5.0)[: len(parameters)]])
