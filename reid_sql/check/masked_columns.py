"""What a report shows of the columns that no check measures, and of all columns together."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.check.exact_figures import MeasuredTable, ReleasedColumns
from reid_sql.check.masked_tables import MaskedClasses
from reid_sql.check.masking import Mask, Node, Page, Sentence, Setting, Worded
from reid_sql.check.remarks import name_rows

NOT_COUNTED: Final = "could not be counted"
WITHHELD: Final = (
    "How many {} all columns together single out is not shown, as it could reveal how few records are "
    "of some class size."
)
OF_ALL: Final = "of {:,} {}"
REPLACED: Final = (
    "In place of {}, the release has random numbers, one for each person, drawn when its query "
    "runs; no key leads back."
)
OTHER_TABLES: Final = (
    "The file has other tables, whose columns are not among these: {}. Release none with the file that no "
    "policy checks."
)
KEPT: Final = "{} identifies each person, and is released as it is: prepare.keep names it."
IDENTIFIES: Final = (
    "{} identifies each person, and is in the file as it is: reid-sql prepare releases random numbers in its "
    "place."
)
# of the mask: of fewer people, those unique by all columns would bound the hidden counts of a sensitive value
TIMES_MASK: Final = 10


@dataclass(frozen=True)
class Words:
    """How sentences name the columns that nothing measures, that there are none, and all of them."""

    begin: str
    none_left: str
    together: str


OF_A_FILE: Final = Words(
    "In the file, in no check",
    "Every column of the file is in a check.",
    "that the file would release",
)
OF_A_RELEASE: Final = Words(
    "In the release, in no check", "Every column of the release is in a check.", "of the release"
)
Parts = tuple[str | Worded, ...]
NOBODY: Final[Parts] = ("nobody",)
NOT_MEASURED: Final[Parts] = (NOT_COUNTED,)


def columns_page(measured: MeasuredTable, classes: MaskedClasses, mask: Mask) -> Page | None:
    """Describe the columns of a table that no check measures: numbers for programs, sentences for people."""
    columns, people = measured.columns, measured.records
    if columns is None:
        return None
    words = OF_A_RELEASE if columns.is_prepared else OF_A_FILE
    masks = mask.below > 1
    page = describe_unmeasured(
        columns,
        people,
        mask,
        words,
        _count_unique_shown(measured, classes),
        noun=name_rows(each.code for check in measured.checks for each in check.cautions),
        is_withheld=masks
        and columns.unique is not None
        and _reveals_classes(columns.unique, classes),
        has_sensitive=masks and any(check.sensitive for check in measured.table.checks),
    )
    sentences = [*page.pop("sentences"), *_other_words(columns, measured)]
    return page | {"left_out": list(columns.left_out), "sentences": sentences}


def describe_unmeasured(
    columns: ReleasedColumns,
    people: int,
    mask: Mask,
    words: Words,
    unique_elsewhere: Iterable[int] = (),
    *,
    noun: str = "people",
    is_withheld: bool = False,
    has_sensitive: bool = False,
) -> dict[str, Any]:
    """Describe the columns that nothing measures, each by itself, and all together.

    `unique_elsewhere` are counts of people that are unique by some of all columns, which a reader sees. Of a
    table with a sensitive column, that nobody or everybody is unique is shown as few: by all columns, it
    would say that no value of a class has one person, or that each has.
    """
    shown = _Shown(people, mask, noun)
    pages: list[Page] = []
    figures: list[Parts] = []
    for each in columns.unmeasured:
        figure, parts = None, NOT_MEASURED
        if each.unique is not None:
            figure, parts = shown.describe(each.unique)
        pages.append({"column": each.column, "unique": figure})
        figures.append(parts)
    for unique in unique_elsewhere:
        shown.add(unique)
    is_small = has_sensitive and people < TIMES_MASK * mask.below
    together, sentences = _describe_together(
        columns, shown, words, is_withheld=is_withheld or is_small, has_sensitive=has_sensitive
    )
    listed = _unmeasured_words(columns, figures, words)
    return {
        "unmeasured": pages,
        "columns_together": Setting(len(columns.counted)),
        "unique_together": together,
        "sentences": [listed, *sentences],
    }


class _Shown:
    """Which counts of people a report shows: none that is small, nor two of which the difference is.

    Rows that may be several of a person are called `records`.
    """

    def __init__(self, people: int, mask: Mask, noun: str) -> None:
        self.people, self.mask, self.noun = people, mask, noun
        self.of_all = OF_ALL.format(people, noun)
        self._seen: list[int] = [0, people]

    def add(self, unique: int) -> None:
        """Remember a count that a reader sees."""
        self._seen.append(unique)

    def describe(self, unique: int, *, hides_none: bool = False) -> tuple[Node, Parts]:
        """Return the count as it is shown or masked, and the count or a bound with what it is of.

        With `hides_none` it is shown as few, or as all but few, though it is nobody or everybody.
        """
        words = self.of_all
        few = Worded(Setting(self.mask.below), words, words)
        hidden = self.mask.show(unique, when=False)
        if hides_none:
            return hidden, ("all but ", few) if unique else (few,)
        if all(not self.mask.hides(abs(unique - other)) for other in self._seen):
            self.add(unique)
            return self.mask.show(unique), (self.mask.word(unique, words),)
        if self.mask.hides(unique):
            return hidden, (few,)
        if self.mask.hides(self.people - unique):
            return hidden, ("all but ", few)
        step = 2 * self.mask.below  # as many counts are left as for another masked figure
        if unique < step:
            return hidden, (Worded(Setting(step), words, words),)
        least = self.mask.word(unique // step * step, words)
        return hidden, ("at least ", least)


def _unmeasured_words(
    columns: ReleasedColumns, described: Sequence[Parts], words: Words
) -> Sentence:
    """Name the columns that nothing measures, with how many people each singles out by itself."""
    if not columns.unmeasured:
        return Sentence((words.none_left,))
    by_figure: dict[Parts, list[str]] = {}
    for each, parts in zip(columns.unmeasured, described, strict=True):
        by_figure.setdefault(NOBODY if each.unique == 0 else parts, []).append(each.column)
    listed: list[str | Worded] = [f"{words.begin}: "]
    for number, (parts, names) in enumerate(by_figure.items()):
        alone = "by itself singles out " if len(names) == 1 else "each by itself singles out "
        counted = parts != NOT_MEASURED
        listed += [
            "; " if number else "",
            ", ".join(names),
            " (",
            alone if counted else "",
            *parts,
            ")",
        ]
    return Sentence((*listed, "."))


def _describe_together(
    columns: ReleasedColumns,
    shown: _Shown,
    words: Words,
    *,
    is_withheld: bool,
    has_sensitive: bool,
) -> tuple[Node, list[Sentence]]:
    """Describe how many people are unique by all columns of the release."""
    many = len(columns.counted)
    if not many:
        return None, []
    noun = "the only column" if many == 1 else f"all {many:,} columns"
    noun = f"the first {many:,} of {many + columns.more:,} columns" if columns.more else noun
    by = f"{noun} {words.together}"
    if columns.unique is None:
        return None, [Sentence((f"How many {shown.noun} {by} single out {NOT_COUNTED}.",))]
    if is_withheld:
        return None, [Sentence((WITHHELD.format(shown.noun),))]
    hides_none = has_sensitive and columns.unique in {0, shown.people}
    figure, counted = shown.describe(columns.unique, hides_none=hides_none)
    if not columns.unique and not hides_none:
        return figure, [Sentence((f"By {by}, nobody is unique.",))]
    return figure, [Sentence((f"By {by}, ", *counted, " are unique."))]


def _reveals_classes(unique: int, classes: MaskedClasses) -> bool:
    """Whether the count bounds a masked class size: whoever is unique by some columns is so by all.

    A report shows how many people the masked sizes have together, with those that lack a value, and no more
    of them can be unique. A larger count says nothing of them; nor does it that the count is withheld.
    """
    if classes.counts is None:  # where all records lack a value, no figure is shown
        return bool(classes.withheld)
    if 0 not in classes.hidden:
        return False
    ends = [classes.counts.bins[place] for place in classes.hidden]
    hidden = sum(classes.counts.records[at] for each in ends for at in classes.counts.within(each))
    return unique <= hidden + classes.counts.dropped


def _count_unique_shown(measured: MeasuredTable, classes: MaskedClasses) -> Collection[int]:
    """The people that are unique by the quasi-identifiers, where the report shows how many."""
    if measured.classes is None or classes.counts is None or 0 in classes.hidden:
        return ()
    return (int(measured.classes.records[measured.classes.class_size == 1].sum()),)


def _other_words(columns: ReleasedColumns, measured: MeasuredTable) -> Iterator[str]:
    """Name the columns that the release lacks, other tables, and what becomes of the column of people."""
    if columns.other_tables:
        yield OTHER_TABLES.format(", ".join(columns.other_tables))
    if columns.left_out:
        by = "" if columns.is_prepared else ", by the policy"
        yield f"Left out of the release{by}: {', '.join(columns.left_out)}."
    if columns.entity is not None:
        is_kept = columns.entity in measured.table.kept
        words = (KEPT if is_kept else REPLACED) if columns.is_prepared else IDENTIFIES
        yield words.format(columns.entity)
