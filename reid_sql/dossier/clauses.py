"""Clauses of standards: each is answered by figures, facts, a person's words, or a reason why by none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from reid_sql.check.assessment import Assessment
from reid_sql.check.catalogue import MEASURES
from reid_sql.check.html import hash_label
from reid_sql.check.masking import Node, Page, ReportPage, Setting
from reid_sql.check.sentences import (
    deciding_group,
    describe_check_and_columns,
    describe_count,
    describe_knowledge,
    format_figure,
    format_limit,
)
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.function import output_of
from reid_sql.parameters import Choice
from reid_sql.parameters.document import Place, read_document
from reid_sql_udfs import declared

FOLDER: Final = Path(str(resources.files("reid_sql") / "dossier" / "standards"))
SHIPPED: Final = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
USUAL: Final = ("iso_iec_27559",)
ROW_KEYS: Final = ("clause", "question", "measures", "facts", "text", "reason")
ANSWERS: Final = "answers"  # words by the name of the clause
TEXTS: Final = Choice((ANSWERS, "assessor", "valid_until", "triggers", "intruder_tests"))
REASON_NO_CHECK: Final = "The policy has no check that answers it: add one of {}."
REASON_NO_RECIPIENT: Final = "The policy names no recipient: write [[recipients]]."
MAX_NAMED: Final = 4  # measures in a sentence


@dataclass(frozen=True)
class Row:
    """A clause by its number, the question that it asks, and what answers it."""

    clause: str
    question: str
    measures: tuple[str, ...]
    facts: str | None
    text: str | None
    reason: str | None


@dataclass(frozen=True)
class Standard:
    """A table of clauses."""

    name: str
    edition: str
    rows: tuple[Row, ...]

    def key(self, row: Row) -> str:
        """Name the clause as the answers of a policy do."""
        return f"{self.name} {row.clause}"


def read_standards(names: Sequence[str], folder: Path) -> list[Standard]:
    """Read tables of clauses: shipped ones by their names, others by their files, seen from the folder."""
    return [read_standard(name, folder) for name in names or USUAL]


def read_standard(name: str, folder: Path = FOLDER) -> Standard:
    """Read a table of clauses; refuse a row that nothing answers."""
    document = name if name in SHIPPED else folder / name
    place, _ = read_document("standard", document, None, SHIPPED)
    place.only(("name", "edition", "rows"))
    rows = tuple(map(_read_row, place.tables("rows")))
    return Standard(place.text("name"), place.text("edition", ""), rows)


def _read_row(place: Place) -> Row:
    place.only(ROW_KEYS)
    for name in place.texts("measures"):
        if name not in MEASURES:
            raise UnknownNameError(
                f"{place.at('measures')} must be measures, got '{name}'; "
                f"{suggestion(name, list(MEASURES), 'measures')}"
            )
    choices = {"facts": Choice(tuple(FACTS)), "text": TEXTS}
    words = {
        key: choice.check(place.at(key), place.text(key)) if key in place.values else None
        for key, choice in choices.items()
    }
    row = Row(
        clause=place.text("clause"),
        question=place.text("question"),
        measures=place.texts("measures"),
        reason=place.text("reason") if "reason" in place.values else None,
        **words,
    )
    if not (row.measures or row.facts or row.text or row.reason):
        raise OutOfDomainError(
            f"{place.where} must have measures, facts, text or a reason, got none; "
            "write what answers the clause, or why nothing does"
        )
    return row


def refuse_unknown_answers(standards: Sequence[Standard], assessment: Assessment) -> None:
    """Refuse an answer to a clause that no table has."""
    clauses = [each.key(row) for each in standards for row in each.rows if row.text == ANSWERS]
    for key in assessment.answers:
        if key not in clauses:
            raise UnknownNameError(
                f"policy assessment.answers must name clauses that a person answers, got '{key}'; "
                f"{suggestion(key, clauses, 'clauses')}"
            )


def answer_standard(standard: Standard, page: ReportPage, assessment: Assessment) -> Page:
    """Answer each clause of a table from the gate's report and from what people wrote."""
    return {
        "name": standard.name,
        "edition": standard.edition,
        "rows": [_answer(row, standard.key(row), page, assessment) for row in standard.rows],
    }


def _answer(row: Row, key: str, page: ReportPage, assessment: Assessment) -> Page:
    """Answer a clause; `given` is whether all that it asks of people is written, null where it asks nothing.

    Whatever has neither figure nor facts nor words has a reason.
    """
    figures = [
        describe_figure(page, place)
        for place, check in enumerate(page["checks"])
        if check["measure"] in row.measures
    ]
    facts = list(FACTS[row.facts](page)) if row.facts else []
    words = _find_words(row.text, key, assessment) if row.text else []
    written_in = f"assessment.{row.text}" if row.text else None
    if row.text == ANSWERS:
        written_in = f'assessment.answers."{key}"'
    reasons = [row.reason] if row.reason else []
    if row.measures and not figures:
        more = len(row.measures) - MAX_NAMED
        named = ", ".join(row.measures[:MAX_NAMED]) + (f" or {more} more" if more > 0 else "")
        reasons.append(REASON_NO_CHECK.format(named))
    if row.facts == "recipients" and not facts:
        reasons.append(REASON_NO_RECIPIENT)
    return {
        "clause": row.clause,
        "question": row.question,
        "figures": figures,
        "facts": facts,
        "words": words,
        "given": bool(words) if row.text else None,
        "written_in": written_in,
        "reasons": reasons,
    }


def describe_figure(page: ReportPage, place: int) -> Page:
    """Describe the figure of a check: what it is, its interval, limit and verdict, and who defined it."""
    check = page["checks"][place]
    return {
        "check": f"{check['table']}: {describe_check_and_columns(check)}",
        "place": Setting(place),  # in the gate's report
        "definition": check["words"],
        "figure": format_figure(deciding_group(check), check),
        "limit": format_limit(check),
        "verdict": check["verdict"],
        "source": output_of(check["function"], declared()).source,
    }


def _find_words(text: str, key: str, assessment: Assessment) -> list[Node]:
    """Find what people wrote; nothing where it is missing."""
    if text == ANSWERS:
        return [assessment.answers[key]] if key in assessment.answers else []
    if text == "assessor":
        parts = (assessment.assessor, assessment.role, assessment.qualification)
        return [", ".join(filter(None, parts))] if assessment.qualification else []
    if text == "valid_until":
        return [f"Until {assessment.valid_until}."] if assessment.valid_until else []
    if text == "triggers":
        return list(assessment.triggers)
    return [describe_test(each) for each in assessment.intruder_tests]


def describe_test(test: Mapping[str, object]) -> str:
    """Describe a test in which people tried to identify somebody."""
    sources = test["sources"]
    used = f", with {', '.join(map(str, sources))}" if isinstance(sources, list) and sources else ""
    return f"{test['date']}, {test['who']}, {test['hours']:g} hours{used}: {test['outcome']}"


def _describe_recipients(page: ReportPage) -> Iterator[Node]:
    for each in page["recipients"]:
        yield f"{each['name']}: {describe_knowledge(each)}"


def _describe_tables(page: ReportPage) -> Iterator[Node]:
    for each in page["tables"]:
        yield f"{each['name']}: {describe_count(each)} were measured, {hash_label(each['sha256'])}"


def _describe_methods(page: ReportPage) -> Iterator[Node]:
    for place, _ in enumerate(page["checks"]):
        each = describe_figure(page, place)
        words = f"{each['check']}: {each['definition']} ({each['source']})"
        yield f"{words}: {each['figure']}, limit {each['limit']}: {each['verdict']}"


# What answers a clause besides figures of some measures.
FACTS: Final[Mapping[str, Callable[[ReportPage], Iterator[Node]]]] = {
    "recipients": _describe_recipients,
    "tables": _describe_tables,
    "methods": _describe_methods,
}
