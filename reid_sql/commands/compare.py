"""A release against its original: the risk of both, what was changed, and an attack, measured."""

import argparse
from typing import TYPE_CHECKING, Final

from reid_sql.commands.options import PASSED, number, opened, print_answer, source_options, whole

if TYPE_CHECKING:
    import duckdb

WORDS: Final = "compare a release with its original: risk, changes, and an attack, measured"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser)
    parser.add_argument("released", metavar="RELEASED", help="the release: CSV, Parquet, JSON or DuckDB file")
    parser.add_argument("--released-table", metavar="TABLE", help="the table of a DuckDB file of the release")
    parser.add_argument(
        "--key", metavar="COLUMN", help="the column of both that tells which released record is whose"
    )
    parser.add_argument(
        "--threshold", default="0.2", help="the risk above which a record counts as at risk (default 0.2)"
    )
    parser.add_argument(
        "--targets", default="10000", help="records to link where all would take too long (default 10000)"
    )
    parser.add_argument("--seed", default="0", help="for another draw of them (default 0)")
    parser.add_argument("--plot", metavar="FILE", help="draw risk and loss to a PNG or SVG file")


def run_command(options: argparse.Namespace) -> int:
    """Show both tables beside each other, and draw them where asked."""
    from reid_sql.charts.release_figures import check_plot_file, save  # noqa: PLC0415 - the same
    from reid_sql.charts.release_figures import comparison_page as drawn  # noqa: PLC0415 - the same
    from reid_sql.models.comparison.linkage import TARGETS  # noqa: PLC0415 - the same
    from reid_sql.parameters import SEED, THRESHOLD  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.runner import run  # noqa: PLC0415 - the same
    from reid_sql.source import attach_source  # noqa: PLC0415 - the same
    from reid_sql.terminal_comparison import comparison_page  # noqa: PLC0415 - the same

    threshold = float(THRESHOLD.check("threshold", number("threshold", options.threshold)))
    targets, seed = whole("--targets", options.targets, TARGETS), whole("--seed", options.seed, SEED)
    if options.plot:
        check_plot_file(options.plot)
    con, (original, qi) = opened(options)
    found = attach_source(con, "reid_release", "RELEASED", options.released, options.released_table)
    found.hold("RELEASED", con.execute("SELECT count(*) FROM reid_release").fetchall()[0][0])
    given = [*_with_like_keys(con, [original, "reid_release"], options.key), qi, options.key]
    how = f"threshold := {threshold!r}, targets := {targets}, seed := {seed}"
    figures = run(con, f"FROM compare(?, ?, ?, key := ?, {how})", given, "comparison").records()
    columns = run(con, "FROM compare_columns(?, ?, ?, key := ?)", given, "columns").records()
    if options.plot:
        save(drawn(figures, columns), f"Original and release by {', '.join(qi)}", options.plot)
    page = {"compare": figures, "compare_columns": columns}
    print_answer(options, page, figures, lambda: comparison_page(figures, columns))
    return PASSED


def _with_like_keys(con: "duckdb.DuckDBPyConnection", views: list[str], key: str | None) -> list[str]:
    """The tables, or views of them whose keys are texts, as a key is one in CSV and a number in Parquet."""
    from reid_sql.parameters import quoted  # noqa: PLC0415 - help is shown without what counts

    columns = [con.execute(f"DESCRIBE {view}").fetchall() for view in views]
    kinds = [row[1] for rows in columns for row in rows if key is not None and row[0] == key]
    if key is None or len(kinds) < len(views) or kinds[0] == kinds[1]:
        return views
    for view in views:
        select = f"SELECT * REPLACE ({quoted(key)}::VARCHAR AS {quoted(key)}) FROM {view}"
        con.execute(f"CREATE TEMP VIEW {view}_keyed AS {select}")
    return [f"{view}_keyed" for view in views]
