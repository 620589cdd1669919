"""`%load_ext reid_sql`: the functions on a notebook's connections, answers as cards and figures.

A formatter for each type of frame shows them; frames with other columns are shown as before.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from html import escape
from typing import Any, Final

import duckdb
import polars as pl

from reid_sql import plot
from reid_sql.charts.picture import Picture
from reid_sql.charts.spec import rows_of
from reid_sql.engines.duckdb import register
from reid_sql.engines.duckdb.planner import Calls, PlannedCall, listen, stop_listening
from reid_sql.errors import ReidError
from reid_sql.function import output_of
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.columns.missing_value_codes import show_code
from reid_sql.models.numerics.quantiles import percent
from reid_sql.sources.identifiers import describe_calls
from reid_sql.sources.missing_value_codes import describe_codes_of_calls
from reid_sql.terminal.answers import advice_by_kind
from reid_sql.terminal.control_characters import escape_control_characters
from reid_sql.terminal.pages import summary_lines
from reid_sql_udfs import declared

Row = Mapping[str, Any]
Lines = Sequence[Sequence[str]]
MAX_LINES: Final = 12
BOX: Final = (
    "display:inline-block;border:1px solid #8888;border-radius:6px;padding:.6em 1em;margin:.2em"
)
FIGURE: Final = re.compile(r"(below |above )?\d[\d.,e+-]*( %)?")
CELL: Final = "text-align:{side};padding:.1em .8em .1em 0;border:none;background:none"


def card(name: str, rows: Sequence[Row]) -> str | None:
    """Write the card of a function's answer; None if the function has none, or the answer no rows."""
    write = CARDS.get(name)
    return write(rows) if write and rows else None


def _risk_card(rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return _box("Risk of re-identification", summary_lines(rows[0]))
    own = declared()["risk_summary"].answer_columns
    groups = [name for name in rows[0] if name not in own]
    riskiest = sorted(rows, key=lambda row: (row["k"] is None, row["k"], -(row["uniqueness"] or 0)))
    lines = [
        [
            *(str(row[name]) for name in groups),
            f"{row['records']:,}",
            _number(row["k"]),
            _number(row["unique_records"]),
            "" if row["records_at_risk"] is None else percent(row["records_at_risk"]),
        ]
        for row in riskiest[:MAX_LINES]
    ]
    head = [*groups, "records", "k", "unique", "at risk"]
    return _box(
        f"Risk of re-identification in {len(rows):,} groups, the riskiest first", lines, head, rows
    )


def _population_card(rows: Sequence[Row]) -> str:
    groups = [name for name in rows[0] if name not in declared()["population_risk"].answer_columns]
    lines = [
        [*(str(row[name]) for name in groups), row["sentence"] or "", row["status"]]
        for row in rows[:MAX_LINES]
    ]
    return _box("Risk in the population", lines, [*groups, "sentence to quote", "status"], rows)


def _profile_card(rows: Sequence[Row]) -> str:
    lines = [
        [
            row["column_name"],
            row["looks_like"],
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            ", ".join(map(show_code, row["sentinels"])),
        ]
        for row in rows
    ]
    head = ["column", "looks like", "values", "unique", "missing-value codes"]
    advice = [f"{names}: {text}" for names, text in advice_by_kind(rows)]
    return _box(f"{rows[0]['records']:,} records, {len(rows)} columns", lines, head, below=advice)


def _suda_card(rows: Sequence[Row]) -> str:
    scored = [row for row in rows if row["subsets"]]
    riskiest = sorted(scored, key=lambda row: -row["suda_score"])[:MAX_LINES]
    lines = [
        [
            str(row["record"]),
            f"{row['subsets']:,}",
            str(row["smallest_size"]),
            f"{row['suda_score']:.4g}",
            percent(row["dis_suda"]),
        ]
        for row in riskiest
    ]
    head = ["record", "sets that single it out", "columns of the smallest", "score", "DIS-SUDA"]
    return _box(
        f"{len(scored):,} records are unique by a set of columns, the riskiest first",
        lines,
        head,
        scored,
        _doubts(rows),
    )


def _minimal_sets_card(rows: Sequence[Row]) -> str:
    status = rows[0]["status"]
    sets = [row for row in rows if row["columns"]]
    if not sets:
        return _box("Minimal sets of columns that single people out", [["none", status]])
    lines = [
        [
            ", ".join(row["columns"]),
            percent(row["share_unique"]),
            *_counts(row, "unique_records", "classes"),
        ]
        for row in sets[:MAX_LINES]
    ]
    more = "" if status == OK else f"; {status}"
    title = f"Minimal sets of columns that single people out, the smallest first{more}"
    return _box(title, lines, ["columns", "share unique", "unique", "classes"], sets)


def _unsafe_card(rows: Sequence[Row]) -> str:
    lines = [
        [
            ", ".join(row["columns"]),
            percent(row["share"]),
            *_counts(row, "records", "combinations", "fewest"),
        ]
        for row in rows[:MAX_LINES]
        if row["columns"]
    ]
    title = "Sets of columns with values that too few people share, the smallest first"
    head = ["columns", "share", "people", "combinations", "fewest who share one"]
    return _box(title, lines, head, rows, _doubts(rows))


def _doubts(rows: Sequence[Row]) -> list[str]:
    """The status of a search, which all rows share, unless it is complete."""
    return [row["status"] for row in rows[:1] if row["status"] != OK]


def _counts(row: Row, *names: str) -> list[str]:
    return [f"{row[name]:,}" for name in names]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _box(
    title: str,
    lines: Lines,
    head: Sequence[str] = (),
    rows: Sequence[Row] = (),
    below: Sequence[str] = (),
) -> str:
    """Write a table without lines; `rows` are those of the answer, of which the card may show the first."""
    header = "".join(_cell(text, "th", at) for at, text in enumerate(head))
    body = "".join(
        f"<tr>{''.join(_cell(text, 'td' if at else 'th', at) for at, text in enumerate(line))}</tr>"
        for line in lines
    )
    notes = [
        *below,
        *([f"and {len(rows) - MAX_LINES:,} more below"] if len(rows) > MAX_LINES else []),
    ]
    more = "".join(f"<div>{_escape(note)}</div>" for note in notes)
    top = f"<tr>{header}</tr>" if header else ""
    return (
        f'<div style="{BOX}"><div style="font-weight:bold;margin-bottom:.3em">{_escape(title)}</div>'
        f'<table style="margin:0;border:none">{top}{body}</table>{more}</div>'
    )


def _cell(text: str, tag: str, place: int) -> str:
    side = "right" if place and FIGURE.fullmatch(text) else "left"
    scope = " scope=row" if tag == "th" else ""
    return f'<{tag}{scope} style="{CELL.format(side=side)}">{_escape(text)}</{tag}>'


def _escape(text: str) -> str:
    return escape(escape_control_characters(text))


# The functions whose answers may have columns of groups before their own.
GROUPED: Final = ("risk_summary", "population_risk")
CARDS: Final[Mapping[str, Callable[[Sequence[Row]], str]]] = {
    "risk_summary": _risk_card,
    "population_risk": _population_card,
    "profile": _profile_card,
    "suda_scores": _suda_card,
    "quasi_identifiers": _minimal_sets_card,
    "unsafe_combinations": _unsafe_card,
}


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
    known = getattr(namespace, "user_ns", {})

    def asking(run: Callable[[str], Any]) -> Callable[[str], Any]:
        # DuckDB finds a frame among the names of the line that asks: here, those of the notebook.
        return lambda sql: eval("reid_run(reid_text)", known, {"reid_run": run, "reid_text": sql})  # noqa: S307

    of_relation = isinstance(answer, duckdb.DuckDBPyRelation)
    own: list[Callable[[str], Any]] = [partial(answer.query, "reid_answer")] if of_relation else []
    for ask in [*own, *(each.sql for each in connections())]:
        described = (
            describe(([call]), asking(ask))
            for describe in (describe_calls, describe_codes_of_calls)
        )
        if sentence := " ".join(filter(None, described)):
            return sentence
    return ""


def connections() -> list[duckdb.DuckDBPyConnection]:
    """Return the default connection, and JupySQL's."""
    return [duckdb.default_connection(), *_jupysql_connections()]


def _jupysql_connections() -> list[duckdb.DuckDBPyConnection]:
    """Return the DuckDB connection of JupySQL's `%sql`, if it is loaded and has one."""
    module = sys.modules.get("sql.connection")
    current = module.ConnectionManager.current if module else None
    connection = getattr(current, "_connection", None)  # of the DBAPI itself, or SQLAlchemy's
    connection = getattr(
        getattr(connection, "connection", connection), "driver_connection", connection
    )
    # Duckdb-engine has no other name for it
    connection = getattr(connection, "_ConnectionWrapper__c", connection)
    return [connection] if isinstance(connection, duckdb.DuckDBPyConnection) else []


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
    "qar_contributions": plot.contributions,
    "qar_contributions_elimination": plot.elimination,
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
    for kind, own in OWN.items():
        BEFORE[kind] = bundles.for_type(
            kind, partial(_shown, own=own, before=bundles.for_type(kind))
        )
    for module in PANDAS:
        bundles.for_type_by_name(module, "DataFrame", partial(_shown, own=_html, before=None))


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


def _shown(frame: Any, own: Callable[[Any], Bundle], before: Any) -> Bundle | None:  # noqa: ANN401
    """Return the answer's card and figure with its rows below; None for frames that are no answers."""
    name = function_of(frozenset(frame.columns))
    is_relation = isinstance(frame, duckdb.DuckDBPyRelation)
    if name is None:
        return before(frame) if before else (own(frame) if is_relation else None)
    answer = frame
    if is_relation and hasattr(frame, "materialize"):
        answer = frame.materialize()
    elif is_relation:  # DuckDB 1.5, whose relations have no HTML, either
        answer, own = frame.pl(), _html
    bundle, people = own(answer), caution_of(name, frame)
    caution = (
        f'<p style="{CAUTION}">{escape(escape_control_characters(people))}</p>' if people else ""
    )
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
    return next((name for own, name in _names().items() if name in GROUPED and own < columns), None)


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
