"""How risky a file is: summary, class sizes, who stands out, a verdict."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.options import (
    PASSED,
    answered,
    number,
    numbers,
    opened,
    print_answer,
    source_options,
    whole,
)
from reid_sql.errors import OutOfDomainError

if TYPE_CHECKING:
    import duckdb

    from reid_sql.runner import Answer

WORDS: Final = "measure a file: summary, class sizes, who stands out, a verdict"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser)
    parser.add_argument(
        "--threshold", default="0.2", help="the risk above which a record counts as at risk (default 0.2)"
    )
    parser.add_argument(
        "--nulls", default="value", help="NULL as a value (default), as a wildcard, or drop such records"
    )
    parser.add_argument(
        "--entity",
        metavar="COLUMN",
        help="the column that tells people apart, where a person has several rows",
    )
    parser.add_argument(
        "--population",
        metavar="N[,N]",
        action="append",
        help="the people that the file is a sample of, such as 67e6 or 67,000,000: the risk among them",
    )
    parser.add_argument(
        "--k", default="5", help="with --population: count people in classes smaller than this (default 5)"
    )
    parser.add_argument(
        "--stand-out", metavar="N", default="0", help="show the N most exposed combinations of values"
    )


def run_command(options: argparse.Namespace) -> int:
    """Show how risky the file is."""
    from reid_sql import screen  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.domains import NULLS, SHOWN, THRESHOLD, sql_text  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    threshold = float(THRESHOLD.check("threshold", number("threshold", options.threshold)))
    count = whole("--stand-out", options.stand_out, SHOWN)
    how = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    populations = numbers("--population", options.population or [])
    if populations and options.entity is not None:
        rule = f"--population must stand without --entity, got '{options.entity}'"
        raise OutOfDomainError(f"{rule}, as the model counts rows; measure a file with one row a person")
    if options.entity is not None:
        how += f", entity := {sql_text(options.entity)}"
    con, given = opened(options)
    asked = f"FROM risk_summary(?, ?, threshold := {threshold!r}, {how})"
    risk = run(con, asked, given, "summary").records()[0]
    sizes = run(con, f"FROM class_size_histogram(?, ?, {how})", given, "class sizes").records()
    shown = _stand_out(con, given, how, count) if count else None
    marks = sentinels(con, given)
    counted = " ".join([_counted(con, given, options.entity), *(f"{told}." for told in marks.values())])
    answer, k = answered(con, given, populations, options.k, options.nulls) if populations else ([], 0)
    page = {"summary": risk, "histogram": sizes, "counted": counted, "sentinels": marks}
    page |= {"population_risk": answer} if answer else {}
    page |= {"stand_out": shown.records()} if shown else {}
    one = screen.answer_page(answer, k) if answer else None
    columns = given[1]
    print_answer(
        options, page, [risk], lambda: screen.risk_page(risk, sizes, shown, columns, counted, answer=one)
    )
    return PASSED


def _counted(con: "duckdb.DuckDBPyConnection", given: list[Any], entity: str | None) -> str:
    """What was taken for a person, and a column that may say otherwise."""
    from reid_sql.identifiers import hint, repeated  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.screen import ONE_ROW_ONE_PERSON  # noqa: PLC0415 - the same

    if entity is not None:
        return f"People are told apart by '{entity}'; each counts by the smallest of their classes."
    return f"{ONE_ROW_ONE_PERSON} {hint(repeated(con, *given), '--entity')}".strip()


def sentinels(con: "duckdb.DuckDBPyConnection", given: list[Any]) -> dict[str, str]:
    """What is to be said of the quasi-identifiers that hold marks for missing values, by column."""
    from reid_sql.models.columns.column_profile import held_by  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    asked = "SELECT column_name, sentinels, sentinel_records FROM profile(?, ?)"
    found = run(con, asked, given, "marks for missing values").rows
    return {name: held_by(marks, records, name) for name, marks, records in found if marks}


def _stand_out(con: "duckdb.DuckDBPyConnection", given: list[Any], how: str, count: int) -> "Answer":
    from reid_sql.runner import run  # noqa: PLC0415 - help is shown without what counts

    listed = f"""SELECT class_size, * EXCLUDE (class_size, records, records_dropped, nulls)
                 FROM equivalence_classes(?, ?, {how}) ORDER BY ALL LIMIT {count}"""
    return run(con, listed, given, "who stands out")
