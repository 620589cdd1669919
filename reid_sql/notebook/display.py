"""How a notebook shows the answers: a formatter for each kind of frame, by the answer's columns.

A frame with any other columns is shown as it was before.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache, partial
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import duckdb
import polars as pl

from reid_sql import plot
from reid_sql.charts.figures import rows_of
from reid_sql.errors import ReidError
from reid_sql.notebook.card import card
from reid_sql_udfs import declared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bundle = dict[str, Any]
PANDAS: Final = ("pandas", "pandas.core.frame")  # where it says that its DataFrame is, by version
CARD: Final = "risk_summary"
PICTURES: Final[Mapping[str, "Callable[[object], Figure]"]] = {
    "class_size_histogram": plot.class_sizes,
    "attribute_risk": plot.attribute_risk,
    "population_risk": plot.forecast,
    "pyc_forecast": plot.forecast,
    "pyc_extrapolate": plot.forecast,
    "copula_forecast": plot.forecast,
    "population_uniqueness": plot.methods,
    "validate_risk": plot.validation,
    "qar_contributions": plot.contributions,
    "qar_elimination": plot.elimination,
    "compare": plot.comparison,
    "compare_columns": plot.losses,
}
CSS_DOTS: Final = 72  # an inch of a picture in a page
DOTS: Final = 144  # an inch, for screens that have many
BEFORE: Final[dict[Any, Any]] = {}  # what showed the type before, by type


def show(formatter: Any) -> None:  # noqa: ANN401 - IPython's DisplayFormatter
    """Show answers as cards and pictures; every other frame as before."""
    bundles = formatter.mimebundle_formatter
    for kind, own in OWN.items():
        BEFORE[kind] = bundles.for_type(kind, partial(_shown, own=own, before=bundles.for_type(kind)))
    for module in PANDAS:
        bundles.for_type_by_name(module, "DataFrame", partial(_shown, own=_html, before=None))
    formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", png)


def hide(formatter: Any) -> None:  # noqa: ANN401 - IPython's DisplayFormatter
    """Show everything as it was shown before."""
    bundles = formatter.mimebundle_formatter
    for kind in OWN:
        bundles.pop(kind, None)
        if before := BEFORE.pop(kind, None):
            bundles.for_type(kind, before)
    for module in PANDAS:
        bundles.pop(f"{module}.DataFrame", None)
    formatter.formatters["image/png"].pop("matplotlib.figure.Figure", None)


def png(figure: "Figure") -> bytes:
    """The figure as an image."""
    held = BytesIO()
    figure.savefig(held, format="png", dpi=DOTS)
    return held.getvalue()


def _shown(frame: Any, own: Callable[[Any], Bundle], before: Any) -> Bundle | None:  # noqa: ANN401
    """The answer's card or picture with its rows beneath; what is no answer as before."""
    name = _names().get(frozenset(frame.columns))
    if name is None:
        return (
            before(frame) if before else (own(frame) if isinstance(frame, duckdb.DuckDBPyRelation) else None)
        )
    held = frame.materialize() if isinstance(frame, duckdb.DuckDBPyRelation) else frame
    bundle = own(held)
    try:
        drawn = _drawn(name, held)
    except ReidError:  # of several groups, or of no rows: the table tells them
        drawn = None
    if drawn is None:
        return bundle
    return bundle | {
        "text/html": f"{drawn}<details><summary>the rows</summary>{bundle['text/html']}</details>"
    }


@cache
def _names() -> dict[frozenset[str], str]:
    """The functions whose answers are shown, by the columns of the answer."""
    functions = declared()
    return {frozenset(functions[name].answer_columns): name for name in (CARD, *PICTURES)}


def _drawn(name: str, frame: object) -> str | None:
    if name == CARD:
        rows = rows_of(CARD, frame, CARD, ("records", "k"))
        return card(rows[0]) if len(rows) == 1 else None
    if find_spec("matplotlib") is None:
        return None
    figure = PICTURES[name](frame)
    words = escape(declared()[name].words, quote=True)
    data = b64encode(png(figure)).decode("ascii")
    width = round(figure.get_figwidth() * CSS_DOTS)
    return f'<img alt="{words}" width="{width}" style="background:white" src="data:image/png;base64,{data}">'


def _bundle(relation: duckdb.DuckDBPyRelation) -> Bundle:
    found: Bundle = relation._repr_mimebundle_()
    return found


def _html(frame: Any) -> Bundle:  # noqa: ANN401 - of Polars or pandas
    return {"text/plain": repr(frame), "text/html": frame._repr_html_()}


OWN: Final[Mapping[type, Callable[[Any], Bundle]]] = {duckdb.DuckDBPyRelation: _bundle, pl.DataFrame: _html}
