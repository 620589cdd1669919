import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import OutOfDomainError, UnknownNameError
from tests.closed_forms import check_pyc
from tests.tables import by_duckdb


def test_engines_agree_with_published_figures_of_correctness() -> None:
    check_pyc(
        "pyc_share",
        ("entropy", "tail", "n"),
        [(27.725887222397812, 0.0, 7.53e9, 0.9940), (27.725887222397812, 0.999, 7.53e9, 0.4477)],
    )


def test_engines_agree_and_people_alone_are_unique() -> None:
    cases = [(10.0, 0.5, 1.0, 1.0), (0.01, -20.0, 8e9, 0.0)]
    check_pyc("pyc_share_uniqueness", ("entropy", "tail", "n"), cases)


def test_engines_agree_and_the_ends_of_k_violation_are_exact() -> None:
    cases = [(10.0, 0.5, 1e6, 1.0, 0.0), (10.0, 0.5, 4.0, 5.0, 1.0), (10.0, 0.5, 1e6, 2.0, 0.1685)]
    check_pyc("pyc_share_k_violation", ("entropy", "tail", "n", "k"), cases)


def test_people_in_sets_smaller_than_2_are_alone() -> None:
    ((alone, few),) = (
        row.values()
        for row in by_duckdb(
            "SELECT pyc_share(10, 0.5, 1e6, 'uniqueness') AS a, pyc_share(10, 0.5, 1e6, 'k_violation', 2)"
        )
    )
    assert alone == pytest.approx(few, rel=1e-12)


def test_what_changes_nothing_is_refused() -> None:
    sentence = "k must be left out with measure := 'correctness'"
    with pytest.raises(duckdb.Error, match=sentence):
        by_duckdb("SELECT pyc_share(10, 0.5, 1e6, k := 4)")
    with pytest.raises(OutOfDomainError, match=sentence):
        pl.select(rp.pyc_share(10, 0.5, 1e6, k=4))


def test_another_word_is_refused_and_no_value_is_shown() -> None:
    with pytest.raises(duckdb.Error, match=r"measure must be one of .* got 'kappa'; "):
        by_duckdb("SELECT pyc_share(10, 0.5, 1e6, 'kappa')")
    with pytest.raises(UnknownNameError, match=r"measure must be one of .* got 'kappa'; "):
        pl.select(rp.pyc_share(10, 0.5, 1e6, "kappa"))  # type: ignore[arg-type]
    with pytest.raises(duckdb.Error, match="got 'word'; ") as raised:
        by_duckdb(
            "SELECT pyc_share(10, 0.5, 1e6, word) FROM t", t=pl.DataFrame({"word": ["secret"]})
        )
    assert "secret" not in str(raised.value)
