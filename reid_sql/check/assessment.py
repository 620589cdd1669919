"""Whom a release is for, and what people write about it: `[[recipients]]` and `[assessment]` of a policy."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from reid_sql.check.sources import ROLES
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters import POINTS, Choice, Number
from reid_sql.parameters.document import Place, shown

ENVIRONMENT: Final = Choice(("public", "shared under contract", "secure room"))
LINKS: Final = Choice(ROLES)
HOURS: Final = Number(
    "a number of hours from 0 to 1e6", "write how long it took, such as 40", 0.0, 1e6
)
RECIPIENT_KEYS: Final = (
    "name",
    "environment",
    "controls",
    "tables",
    "knows",
    "rows",
    "scenario",
    "links",
    "checks",
)
ASSESSMENT_KEYS: Final = (
    "assessor",
    "role",
    "qualification",
    "purpose",
    "date",
    "valid_until",
    "triggers",
    "license",
    "standards",
    "intruder_tests",
    "answers",
)
TEST_KEYS: Final = ("who", "date", "hours", "sources", "outcome")


@dataclass(frozen=True)
class Recipient:
    """Who receives tables, where, under which controls, and what they may know.

    `knows` are columns, `rows` the known rows of a person, `links` the roles of tables to link with. The
    environment and the controls are people's words: no figure hangs on them.
    """

    name: str
    environment: str
    controls: tuple[str, ...]
    tables: tuple[str, ...]
    knows: tuple[str, ...]
    rows: int | None
    scenario: str | None
    links: tuple[str, ...]
    checks: tuple[Place, ...] = field(repr=False, compare=False)

    @property
    def page(self) -> dict[str, Any]:
        """What a report shows of them, besides the verdict."""
        named = ("name", "environment", "controls", "tables", "knows", "rows", "links")
        return {name: getattr(self, name) for name in named}

    def defaults(self, parameters: Collection[str]) -> dict[str, Any]:
        """Return what the recipient may know, as defaults of the parameters of a check."""
        defaults = {"points": self.rows, "scenario": self.scenario}
        return {
            key: value for key, value in defaults.items() if value is not None and key in parameters
        }


def read_recipients(place: Place, tables: Sequence[str]) -> tuple[Recipient, ...]:
    """Read the recipients; `tables` are the policy's, and they get all unless they name some."""
    return tuple(_read_recipient(each, tables) for each in place.tables("recipients"))


def _read_recipient(place: Place, tables: Sequence[str]) -> Recipient:
    place.only(RECIPIENT_KEYS)
    for name in place.texts("tables"):
        if name not in tables:
            raise UnknownNameError(
                f"{place.at('tables')} must name tables of the policy, got '{name}'; "
                f"{suggestion(name, tables, 'tables')}"
            )
    checks = place.tables("checks")
    if not checks:
        raise OutOfDomainError(
            f"{place.where} must have at least one check, got none"
            '; write [[recipients.checks]] with measure = "k"'
        )
    return Recipient(
        name=_read_words(place, "name"),
        environment=ENVIRONMENT.check(place.at("environment"), place.text("environment")),
        controls=place.texts("controls"),
        tables=place.texts("tables") or tuple(tables),
        knows=place.texts("knows"),
        rows=int(place.number("rows", POINTS)) if "rows" in place.values else None,
        scenario=place.text("scenario") if "scenario" in place.values else None,
        links=tuple(LINKS.check(place.at("links"), each) for each in place.texts("links")),
        checks=tuple(checks),
    )


@dataclass(frozen=True)
class Assessment:
    """Who assesses, for which purpose and how long, and the clauses that they answer by their own words."""

    assessor: str
    role: str
    qualification: str
    purpose: str
    date: str
    valid_until: str
    triggers: tuple[str, ...]
    license: str
    standards: tuple[str, ...]
    intruder_tests: tuple[Mapping[str, Any], ...]
    answers: Mapping[str, str]

    @property
    def page(self) -> dict[str, Any]:
        """What a document shows of it."""
        return {name: value for name, value in vars(self).items() if name != "standards"}


def read_assessment(place: Place) -> Assessment | None:
    """Read the assessment, if the policy has one."""
    if "assessment" not in place.values:
        return None
    written = place.table("assessment")
    written.only(ASSESSMENT_KEYS)
    day, until = _read_date(written, "date"), _read_date(written, "valid_until", "")
    if until and until < day:
        raise OutOfDomainError(
            f"{written.at('valid_until')} must not be before the date {day}, got {until}; correct one of them"
        )
    answers = written.table("answers")
    return Assessment(
        assessor=_read_words(written, "assessor"),
        role=written.text("role", ""),
        qualification=written.text("qualification", ""),
        purpose=written.text("purpose", ""),
        date=day,
        valid_until=until,
        triggers=written.texts("triggers"),
        license=written.text("license", ""),
        standards=written.texts("standards"),
        intruder_tests=tuple(_read_tests(written)),
        answers={key: _read_words(answers, key) for key in answers.values},
    )


def _read_tests(place: Place) -> Iterator[dict[str, Any]]:
    """Yield the records of tests in which people tried to identify somebody."""
    for each in place.tables("intruder_tests"):
        each.only(TEST_KEYS)
        yield {
            "who": _read_words(each, "who"),
            "date": _read_date(each, "date"),
            "hours": each.number("hours", HOURS),
            "sources": list(each.texts("sources")),
            "outcome": _read_words(each, "outcome"),
        }


def _read_words(place: Place, key: str) -> str:
    """Read a text that says something."""
    text = place.text(key)
    if not text.strip():
        raise OutOfDomainError(
            f"{place.at(key)} must be a text, got an empty one; write it, or omit its key"
        )
    return text


def _read_date(place: Place, key: str, default: str | None = None) -> str:
    """Read a day, as TOML or as text, and write it as ISO 8601 does."""
    day = place.values.get(key, default)
    if day == "" and default == "":
        return ""
    try:
        if isinstance(day, date) and not isinstance(day, datetime):
            return day.isoformat()
        if isinstance(day, str):
            return date.fromisoformat(day).isoformat()
    except ValueError:
        pass
    raise OutOfDomainError(
        f"{place.at(key)} must be a day, got {shown(day)}; write it like 2026-11-30"
    )
