"""`%load_ext reid_sql`: the functions on a notebook's connections, answers as cards and figures.

A formatter for each type of frame shows them; frames with other columns are shown as before.
"""

import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final

import duckdb
import polars as pl

from reid_sql import plot
from reid_sql.charts.spec import rows_of
from reid_sql.charts.svg import Picture, escape
from reid_sql.engines.duckdb import register
from reid_sql.engines.duckdb.planner import Calls, PlannedCall, listen, stop_listening
from reid_sql.errors import ReidError
from reid_sql.function import output_of
from reid_sql.notebook.cards import CARDS, GROUPED, card
from reid_sql.sources.identifiers import describe_calls
from reid_sql.sources.missing_value_codes import describe_codes_of_calls
from reid_sql_udfs import declared

LISTENING: Final[list[Calls]] = []  # one, while the extension is loaded


def caution_of(function: str, answer: Any) -> str:  # noqa: ANN401 - a relation or a frame
    """Say what is doubtful of the rows and values of the function's latest call; it is then forgotten."""
    calls = [call for each in LISTENING for call in each if call.function == function]
    for each in LISTENING:
        each.clear()
    return _describe(calls[-1], answer) if calls else ""


def _describe(call: PlannedCall, answer: Any) -> str:  # noqa: ANN401 - a relation or a frame
    """Ask the answer's own connection, else those of the notebook; frames are found by their names there."""
    namespace = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    scope = getattr(namespace, "user_ns", {})

    def asking(run: Callable[[str], Any]) -> Callable[[str], Any]:
        # DuckDB finds a frame among the names of the line that asks: here, those of the notebook.
        return lambda sql: eval("reid_run(reid_text)", scope, {"reid_run": run, "reid_text": sql})  # noqa: S307

    of_relation = isinstance(answer, duckdb.DuckDBPyRelation)
    asks: list[Callable[[str], Any]] = [partial(answer.query, "reid_answer")] if of_relation else []
    for ask in [*asks, *(each.sql for each in connections())]:
        described = (
            describe(([call]), asking(ask))
            for describe in (describe_calls, describe_codes_of_calls)
        )
        if sentence := " ".join(filter(None, described)):
            return sentence
    return ""


def connections() -> list[duckdb.DuckDBPyConnection]:
    """Return the default connection, and that of JupySQL's `%sql`, if it is loaded and has one of DuckDB."""
    module = sys.modules.get("sql.connection")
    current = module.ConnectionManager.current if module else None
    connection = getattr(current, "_connection", None)  # of the DBAPI itself, or SQLAlchemy's
    connection = getattr(
        getattr(connection, "connection", connection), "driver_connection", connection
    )
    # Duckdb-engine has no other name for it
    connection = getattr(connection, "_ConnectionWrapper__c", connection)
    jupysql = [connection] if isinstance(connection, duckdb.DuckDBPyConnection) else []
    return [duckdb.default_connection(), *jupysql]


Bundle = dict[str, Any]
PANDAS: Final = ("pandas", "pandas.core.frame")  # where it says that its DataFrame is, by version
MAX_ROWS_OF_CARD: Final = 100_000
FIGURES: Final[Mapping[str, Callable[[object], Picture]]] = {
    "class_size_histogram": plot.class_sizes,
    "attribute_risk": plot.attribute_risk,
    "population_risk": plot.forecast,
    "pyc_forecast": plot.forecast,
    "pyc_extrapolate": plot.forecast,
    "copula_forecast": plot.forecast,
    "population_uniqueness": plot.methods,
    "validate_risk": plot.validation,
    "unicity": plot.unicity,
    "qar_risk_contributions": plot.contributions,
    "qar_risk_elimination": plot.elimination,
    "compare": plot.comparison,
    "compare_columns": plot.losses,
    "audit_synthetic": plot.attacks,
}
CAUTION: Final = "color:#b35900;margin:.4em 0"
BEFORE: Final[dict[Any, Any]] = {}  # the earlier formatter of each type


def load(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Register the functions on the default connection and on JupySQL's, and show answers as figures."""
    for con in connections():
        register(con, declared())
    _stop_listening()
    LISTENING.append(listen())
    bundles = shell.display_formatter.mimebundle_formatter
    for kind, show in OWN.items():
        BEFORE[kind] = bundles.for_type(
            kind, partial(_shown, show=show, before=bundles.for_type(kind))
        )
    for module in PANDAS:
        bundles.for_type_by_name(module, "DataFrame", partial(_shown, show=_html, before=None))


def unload(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Show answers as before; the functions stay registered."""
    bundles = shell.display_formatter.mimebundle_formatter
    for kind in OWN:
        bundles.pop(kind, None)
        if before := BEFORE.pop(kind, None):
            bundles.for_type(kind, before)
    for module in PANDAS:
        bundles.pop(f"{module}.DataFrame", None)
    _stop_listening()


def _stop_listening() -> None:
    while LISTENING:
        stop_listening(LISTENING.pop())


def _shown(frame: Any, show: Callable[[Any], Bundle], before: Any) -> Bundle | None:  # noqa: ANN401
    """Return the answer's card and figure with its rows below; None for frames that are no answers."""
    name = function_of(frozenset(frame.columns))
    is_relation = isinstance(frame, duckdb.DuckDBPyRelation)
    if name is None:
        return before(frame) if before else (show(frame) if is_relation else None)
    answer = frame
    if is_relation and hasattr(frame, "materialize"):
        answer = frame.materialize()
    elif is_relation:  # DuckDB 1.5, whose relations have no HTML, either
        answer, show = frame.pl(), _html
    bundle, people = show(answer), caution_of(name, frame)
    caution = f'<p style="{CAUTION}">{escape(people)}</p>' if people else ""
    bundle |= {"text/plain": f"{bundle['text/plain']}\n{people}"} if people else {}
    drawn = _card(name, answer) + _figure(name, answer)
    if not drawn:
        return bundle | {"text/html": f"{bundle['text/html']}{caution}"}
    return bundle | {
        "text/html": f"{drawn}{caution}<details><summary>the rows</summary>{bundle['text/html']}</details>"
    }


def function_of(columns: frozenset[str]) -> str | None:
    """Return the function whose answer has these columns, or these and columns of groups."""
    if name := _names().get(columns):
        return name
    return next(
        (name for of_answer, name in _names().items() if name in GROUPED and of_answer < columns),
        None,
    )


@cache
def _names() -> dict[frozenset[str], str]:
    """Return the functions whose answers are shown, by the columns of the answer."""
    return {
        frozenset(output_of(key, declared()).answer_columns): key for key in {**CARDS, **FIGURES}
    }


def _card(name: str, frame: object) -> str:
    try:
        rows = rows_of(name, frame, name, ())
    except ReidError:  # of no rows: only the table is shown
        return ""
    return (card(name, rows) or "") if len(rows) <= MAX_ROWS_OF_CARD else ""


def _figure(name: str, frame: object) -> str:
    try:
        return FIGURES[name](frame)._repr_html_() if name in FIGURES else ""
    except ReidError:  # of several groups, or of no rows
        return ""


def _bundle(relation: duckdb.DuckDBPyRelation) -> Bundle:
    shown: Bundle = relation._repr_mimebundle_()
    return shown


def _html(frame: Any) -> Bundle:  # noqa: ANN401 - of Polars or pandas
    return {"text/plain": repr(frame), "text/html": frame._repr_html_()}


OWN: Final[Mapping[type, Callable[[Any], Bundle]]] = {
    duckdb.DuckDBPyRelation: _bundle,
    pl.DataFrame: _html,
}
