"""The page of attacks on a synthetic table: what happens to people first, then the attacks, folded."""

from collections.abc import Mapping
from typing import Final

from rich.console import RenderableType
from rich.panel import Panel

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.comparison import STATUS_FEW_COMPARABLE, STATUS_NOT_COMPARABLE
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.synthetic.audit import is_doubtful
from reid_sql.parameters import Row, Rows
from reid_sql.terminal.console import (
    ONE_ROW_ONE_PERSON,
    FigureTable,
    Folded,
    Text,
    caution,
    figure_columns,
    note,
    note_columns,
    page,
    statuses,
    word_columns,
)

FIGURES: Final = ("original", "holdout", "baseline", "excess", "low", "high")
AREA: Final = "auc"


def audit_page(rows: Rows, *, counts_people: bool) -> RenderableType:
    """Show what happens to people, then the result in a box, then why some attacks are not judged.

    A line for each figure of each attack is folded.
    """
    lines = []
    for row in rows:
        attack, figure = (row[name].replace("_", " ") for name in ("attack", "figure"))
        name = attack if row["column_name"] is None else f"{attack}: {row['column_name']}"
        lines.append([name, figure, *(_format_figure(row, each) for each in FIGURES)])
    columns = [*word_columns("attack"), *note_columns("figure"), *figure_columns(*FIGURES)]
    harms = []
    for row, words in _choose_harms(rows):
        control = row["holdout"] if row["holdout"] is not None else row["baseline"]
        harms.append([_count_harmed(row), _of_hundred(control), words])
    heads = [*figure_columns("of 100 people", "by chance"), *word_columns("what happens to them")]
    return page(
        FigureTable(heads, harms),
        Panel(Text(describe_audit(rows))),
        *(caution(f"{_attacks(rows, status)}: {status}.") for status in statuses(rows)),
        Folded(f"{len(rows)} figures of all attacks", (FigureTable(columns, lines),)),
        note("" if counts_people else ONE_ROW_ONE_PERSON),
    )


COPIED: Final = "have an equal record in the synthetic table"
INFERRED: Final = "have their {} inferred by a sure attacker"
GUESSED: Final = "have their {} guessed"
RECOGNIZED: Final = "are recognized as people it was made from"
PAIRS: Final = "are told from people who were not used (in pairs, one of each)"


def _choose_harms(rows: Rows) -> list[tuple[Row, str]]:
    """Choose the figure of copies, the inference and the attack on membership that exceed chance most."""
    chosen = [(row, COPIED) for row in rows if row["attack"] == "exact_presence"][:1]
    measured = [row for row in rows if row["original"] is not None]
    inferences = [
        row for row in measured if row["attack"] in INFERENCES and row["figure"] == "share"
    ]
    if inferences:
        row = max(inferences, key=lambda each: (each["excess"] or -1.0, each["original"]))
        words = GUESSED if row["attack"] == "inference" else INFERRED
        chosen.append((row, words.format(_sensitive_column(row))))
    for row in measured:
        if row["attack"] == "strongest_membership":
            chosen.append((row, PAIRS if row["figure"].endswith(AREA) else RECOGNIZED))
    return chosen


def _sensitive_column(row: Row) -> str:
    """The column whose values an attack infers, without those that it is inferred from."""
    return str(row["column_name"]).partition(" / ")[0]


# Values of the synthetic table that are written otherwise hide what an attacker sees.
INCOMPARABLE: Final = tuple(
    status.partition(":")[0] for status in (STATUS_NOT_COMPARABLE, STATUS_FEW_COMPARABLE)
)
INFERENCES: Final = ("inference", "sure_inference", "strongest_inference")


def _count_harmed(row: Row) -> str:
    """Write how many of 100 people are harmed; at least so many where values of the table are not compared.

    >>> row = {"original": 0.21, "status": "few_comparable: values of 'age' ..."}
    >>> _count_harmed(row), _count_harmed(row | {"original": 0.0})
    ('at least 21', 'not known')
    """
    people = _of_hundred(row["original"])
    if row["status"].partition(":")[0] not in INCOMPARABLE:
        return people
    return f"at least {people}" if row["original"] else "not known"


def _of_hundred(share: float | None) -> str:
    """Write a share as people of 100; what is not known is said.

    >>> _of_hundred(0.409), _of_hundred(0.001), _of_hundred(0.0), _of_hundred(None)
    ('41', 'fewer than 1', '0', 'not known')
    """
    if share is None:
        return "not known"
    return "fewer than 1" if 0 < share < 0.005 else f"{100 * share:.0f}"  # noqa: PLR2004 - half a person


# What an attack is right about; another one is named by its name.
RIGHT_ABOUT: Final[Mapping[str, str]] = {
    "exact_presence": "Copies of the records of {} are in the synthetic table",
    "copied_records": "The records of {} were copied into the synthetic table",
    "replicated_uniques": "The values of {} are unique, and in the synthetic table once",
    "linkability": "The synthetic table links two halves of the records of {}",
    "disclosive_correct": "The synthetic table gives away {column} of {}",
    "inference": "The synthetic table lets an attacker guess {column} of {}",
    "sure_inference": "An attacker who is sure infers {column} of {}",
    "strongest_inference": "An attacker who is sure infers {column} of {}",
}
OF_PEOPLE: Final = ("share", "weighted_share", "true_positives")


EQUAL_RECORDS: Final = "of the people have an equal record in it, copied or by chance."


def describe_audit(rows: Rows) -> str:
    """State the greatest harm in people, then the result of the strongest attack on membership.

    Of the shares of people, it is the one that exceeds its control most, by the lower end. One of many
    figures exceeds it by chance: where no attack on membership does, whose interval allows for that, the
    excess is twice as far from 0 as its interval asks.

    >>> membership = {"attack": "strongest_membership", "figure": "nearest_record: auc", "excess": 0.1}
    >>> copies = {"attack": "exact_presence", "figure": "share", "excess": 0.2, "low": 0.18}
    >>> fields = {"status": "ok", "column_name": None, "low": 0.05}
    >>> describe_audit([fields | copies, fields | membership]).partition(" (at least")[0]
    'Copies of the records of 20.0 %'
    """
    membership = describe_membership(rows)
    chosen = next(row for row in rows if row["attack"] == "strongest_membership")
    is_revealed = (chosen["low"] or 0) > 0
    shares = [row for row in rows if row["attack"] != chosen["attack"] and _exceeds_control(row)]
    harms = shares if is_revealed else [row for row in shares if 2 * row["low"] > row["excess"]]
    if harms:
        worst = _describe_harm(max(harms, key=lambda row: (row["low"], row["excess"])))
        return f"{worst} {membership}" if is_revealed else worst
    present = next((row["original"] for row in rows if row["attack"] == "exact_presence"), None)
    if chosen["excess"] is None and present:
        return f"{membership} {percent(present)} {EQUAL_RECORDS}"
    return membership


def _exceeds_control(row: Row) -> bool:
    """Whether an attack is surely right about more people than by chance."""
    is_share = row["status"] == OK and row["figure"].startswith(OF_PEOPLE)
    return bool(is_share and row["low"] is not None and row["low"] > 0)


def _describe_harm(row: Row) -> str:
    """Say in a sentence about which share of the people an attack is right, beyond its control."""
    share = (
        f"{percent(row['excess'])} (at least {percent(row['low'])}) of the people it was made from"
    )
    words = RIGHT_ABOUT.get(row["attack"])
    if words is None:
        figure = f"{row['attack']} ({row['figure']})".replace("_", " ")
        return f"The synthetic table reveals {share}, by {figure}, more than of people who were not used."
    return f"{words.format(share, column=_sensitive_column(row))}, more than of people who were not used."


def describe_membership(rows: Rows) -> str:
    """State the result of the strongest attack on membership in one sentence.

    >>> row = {"attack": "strongest_membership", "figure": "nearest_record: auc", "excess": 0.1}
    >>> row["status"] = "ok"
    >>> describe_membership([row | {"low": 0.05}])
    'The synthetic table reveals who was used: nearest record (auc) exceeds chance by 10.0 %, at least 5.0 %.'
    >>> describe_membership([row | {"low": -0.01}])
    'No attack finds who was used better than chance; this does not prove that the table is safe.'
    >>> describe_membership([row | {"low": -0.01, "status": "not_comparable: …"}])
    'The attacks cannot be judged, so the table may or may not reveal who was used.'
    """
    row = next(row for row in rows if row["attack"] == "strongest_membership")
    is_doubted = any(is_doubtful(each["status"]) for each in rows)
    if row["excess"] is None or (is_doubted and row["low"] <= 0):
        return "The attacks cannot be judged, so the table may or may not reveal who was used."
    if row["low"] <= 0:
        return "No attack finds who was used better than chance; this does not prove that the table is safe."
    attack, _, figure = row["figure"].replace("_", " ").partition(": ")
    above = f"{percent(row['excess'])}, at least {percent(row['low'])}"
    return (
        f"The synthetic table reveals who was used: {attack} ({figure}) exceeds chance by {above}."
    )


def _attacks(rows: Rows, status: str) -> str:
    """The attacks of a status, each once; all of them in one word."""
    if all(row["status"] == status for row in rows):
        return "all attacks"
    names = (row["attack"].replace("_", " ") for row in rows if row["status"] == status)
    return ", ".join(dict.fromkeys(names))


def _format_figure(row: Row, name: str) -> str:
    value = row[name]
    if value is None:
        return ""
    return f"{value:.3f}" if row["figure"].endswith(AREA) else percent(value)
