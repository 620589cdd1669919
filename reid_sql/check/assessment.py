"""Whom a release is for, and what people write about it: `[[recipients]]` and `[assessment]` of a policy."""

from collections.abc import Collection, Mapping, Sequence
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
    recipients = []
    for each in place.tables("recipients"):
        each.only(RECIPIENT_KEYS)
        for name in each.texts("tables"):
            if name not in tables:
                raise UnknownNameError(
                    f"{each.at('tables')} must name tables of the policy, got '{name}'; "
                    f"{suggestion(name, tables, 'tables')}"
                )
        checks = each.tables("checks")
        if not checks:
            raise OutOfDomainError(
                f"{each.where} must have at least one check, got none"
                '; write [[recipients.checks]] with measure = "k"'
            )
        recipient = Recipient(
            name=_read_words(each, "name"),
            environment=ENVIRONMENT.check(each.at("environment"), each.text("environment")),
            controls=each.texts("controls"),
            tables=each.texts("tables") or tuple(tables),
            knows=each.texts("knows"),
            rows=int(each.number("rows", POINTS)) if "rows" in each.values else None,
            scenario=each.text("scenario") if "scenario" in each.values else None,
            links=tuple(LINKS.check(each.at("links"), link) for link in each.texts("links")),
            checks=tuple(checks),
        )
        recipients.append(recipient)
    return tuple(recipients)


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
    tests: list[dict[str, Any]] = []  # in which people tried to identify somebody
    for each in written.tables("intruder_tests"):
        each.only(TEST_KEYS)
        test = {
            "who": _read_words(each, "who"),
            "date": _read_date(each, "date"),
            "hours": each.number("hours", HOURS),
            "sources": list(each.texts("sources")),
            "outcome": _read_words(each, "outcome"),
        }
        tests.append(test)
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
        intruder_tests=tuple(tests),
        answers={key: _read_words(answers, key) for key in answers.values},
    )


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
