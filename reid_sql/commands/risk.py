"""How risky a file is: summary, class sizes, who stands out, a verdict."""

import argparse
from typing import Final

from reid_sql.commands.asked import Asked, asked
from reid_sql.commands.options import (
    OR_CONNECTION,
    PASSED,
    PEOPLE,
    needs,
    number,
    numbers,
    print_answer,
    source_options,
    whole,
)
from reid_sql.errors import OutOfDomainError

WORDS: Final = "measure a file: summary, class sizes, who stands out, a verdict"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser, words_of_file=OR_CONNECTION)
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
        "--k", help="with --population: count people in classes smaller than this (default 5)"
    )
    parser.add_argument(
        "--stand-out", metavar="N", default="0", help="show the N most exposed combinations of values"
    )


def run_command(options: argparse.Namespace) -> int:
    """Show how risky the file is."""
    from reid_sql import terminal  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.models.one_answer.population_risk import CLASS_SIZE  # noqa: PLC0415 - the same
    from reid_sql.parameters import NULLS, SHOWN, THRESHOLD  # noqa: PLC0415 - the same

    threshold = float(THRESHOLD.check("threshold", number("threshold", options.threshold)))
    count = whole("--stand-out", options.stand_out, SHOWN)
    nulls, k = NULLS.check("nulls", options.nulls), whole("k", options.k or "5", CLASS_SIZE)
    needs("--k", options.k, "--population", given=bool(options.population))
    populations = numbers("--population", options.population or [])
    if populations and options.entity is not None:
        rule = f"--population must stand without --entity, got '{options.entity}'"
        raise OutOfDomainError(f"{rule}, as the model counts rows; measure a file with one row a person")
    if options.format == "csv" and populations and count:
        rule = f"--population must stand without --stand-out in csv, got {count} to stand out"
        raise OutOfDomainError(f"{rule}; ask twice, or for --format json, which has both")
    how = {"nulls": nulls} | ({} if options.entity is None else {"entity": options.entity})
    with asked(options) as table:
        risk = table.ask("risk_summary", words="summary", threshold=threshold, **how)[0]
        sizes = table.ask("class_size_histogram", words="class sizes", **how)
        shown = table.most_exposed(count, **how) if count else None
        marks = table.marks()
        counted = " ".join([_counted(table, options.entity), *(f"{told}." for told in marks.values())])
        answer = []
        if populations:
            answer = table.ask("population_risk", populations, words=PEOPLE, k=k, nulls=nulls)
    page = {"summary": risk, "histogram": sizes, "counted": counted, "sentinels": marks}
    page |= {"population_risk": answer} if answer else {}
    page |= {"stand_out": shown.records()} if shown else {}
    one = terminal.answer_page(answer, k) if answer else None
    columns = table.columns
    rows = answer or (shown.records() if shown else [risk])
    print_answer(
        options, page, rows, lambda: terminal.risk_page(risk, sizes, shown, columns, counted, answer=one)
    )
    return PASSED


def _counted(table: Asked, entity: str | None) -> str:
    """What was taken for a person, and a column that may say otherwise."""
    from reid_sql.identifiers import hint  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.terminal import ONE_ROW_ONE_PERSON  # noqa: PLC0415 - the same

    if entity is not None:
        return f"People are told apart by '{entity}'; each counts by the smallest of their classes."
    return f"{ONE_ROW_ONE_PERSON} {hint(table.repeated(), '--entity')}".strip()
