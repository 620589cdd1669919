import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr

from tests.qar import draw, frame
from tests.tables import by_both, by_polars


def test_the_correlations_are_those_of_the_contributions() -> None:
    table = frame(draw(3, 150, 8, 6))
    duck, polars = by_both(
        "qar_risk", {"t": table}, table.columns, alpha=0.05, tail=0.4, output="proxies"
    )
    assert duck == polars
    records = by_polars(
        "qar_risk", table, table.columns, alpha=0.05, tail=0.4, output="contributions"
    )
    exact = [row["contribution"] for row in records]
    for found in duck:
        proxy = [row[found["proxy"]] for row in records]
        assert found["pearson"] == pytest.approx(pearsonr(proxy, exact).statistic)
        assert found["kendall"] == pytest.approx(kendalltau(proxy, exact).statistic)
        assert 0 <= found["auc"] <= 1


def test_text_leaves_two_proxies() -> None:
    table = frame(draw(3, 150, 8, 6)).with_columns(pl.col("c0").cast(pl.String))
    for answer in by_both(
        "qar_risk", {"t": table}, table.columns, alpha=0.05, tail=0.4, output="proxies"
    ):
        status = {row["proxy"]: row["status"] for row in answer}
        assert status["u_plus"] == status["u_star"] == "ok"
        assert status["entropy"] == status["pls"]
        assert status["pls"].startswith("no_order: 'c0' has no order")
