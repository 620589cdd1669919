"""Tables of docs/accuracy_people.md from measured cases; nothing in them is written by hand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from benchmarks.accuracy.people_cases import SHARES, Case
from benchmarks.accuracy.people_families import FAMILIES

SYMBOLS: Final = dict(zip(SHARES, ("Ξ", "κ", "V_5"), strict=True))
FRACTIONS: Final = ((0.05, 1.0), (0.005, 0.05), (0.0, 0.005))  # sampled, from and below
RIVALS: Final = {"people": "people", "loglinear_nb": "log-linear", "pitman": "Pitman", "pyc": "PYC"}
TOLERANCE: Final = 1e-9
PRICE_OF_MISS: Final = 40.0  # 2/α


def page(cases: Sequence[Case], persons: Mapping[str, Mapping[str, float]]) -> str:
    """All tables, one after another."""
    parts = [
        "## Coverage, width and error by family, in per cent and percentage points\n",
        *coverage(cases),
    ]
    parts += ["\n## The same by status, of held-out tables\n", *by_status(cases)]
    parts += ["\n## Error of Ξ on people, in percentage points\n", *errors(cases)]
    parts += _persons(persons)
    return "\n".join(parts)


def coverage(cases: Sequence[Case]) -> Iterator[str]:
    """How often each interval contains the truth, by family and role."""
    rows = []
    for name, family in FAMILIES.items():
        for role, some in (
            ("chosen on", family.choose(cases)),
            ("held out", family.hold_out(cases)),
        ):
            if some:
                tables = len({case.name for case in some})
                rows.append(
                    [name, role, str(tables), str(len(some)), *(_held(some, s) for s in SHARES)]
                )
    return _table(["family", "role", "tables", "cases", *_heads()], rows)


def by_status(cases: Sequence[Case]) -> Iterator[str]:
    """How often each interval contains the truth, by the codes of the status, of held-out tables."""
    by_code: dict[str, list[Case]] = {}
    for case in [each for family in FAMILIES.values() for each in family.hold_out(cases)]:
        for status in case.status.split("; "):
            by_code.setdefault(status.partition(":")[0], []).append(case)
    rows = [
        [f"`{code}`", str(len(some)), *(_held(some, share) for share in SHARES)]
        for code, some in sorted(by_code.items(), key=lambda one: -len(one[1]))
    ]
    return _table(["status", "cases", *_heads()], rows)


def _heads() -> list[str]:
    return [f"{sign}: contained, above, width, error, Winkler" for sign in SYMBOLS.values()]


def _held(cases: Sequence[Case], share: str) -> str:
    ends = [(case.truth[share], *case.answer[share]) for case in cases]
    held = fmean(low - TOLERANCE <= truth <= high + TOLERANCE for truth, _, low, high in ends)
    above = fmean(truth > high + TOLERANCE for truth, _, _, high in ends)
    width = fmean(high - low for _, _, low, high in ends)
    errors_of = [abs(estimate - truth) for truth, estimate, _, _ in ends if estimate is not None]
    error = fmean(errors_of) if errors_of else float("nan")
    score = fmean(winkler_score(truth, low, high) for truth, _, low, high in ends)
    return f"{100 * held:.0f}, {100 * above:.1f}, {100 * width:.1f}, {100 * error:.1f}, {100 * score:.1f}"


def winkler_score(truth: float, low: float, high: float) -> float:
    """Width of a 95 % interval, and 40 times the distance to a true value outside it. Source: Winkler 1972.

    It is least on average where an interval contains the true value in 95 of 100 cases, and no wider.

    >>> winkler_score(0.5, 0.25, 0.75), winkler_score(0.875, 0.25, 0.75)
    (0.5, 5.5)
    """
    return high - low + PRICE_OF_MISS * (max(low - truth, 0.0) + max(truth - high, 0.0))


def errors(cases: Sequence[Case]) -> Iterator[str]:
    """Mean absolute errors of Ξ by the sampled fraction, of this model and of the others."""
    rows = []
    for role in ("chosen on", "held out"):
        family = FAMILIES["people"]
        of_role = family.choose(cases) if role == "chosen on" else family.hold_out(cases)
        for low, high in FRACTIONS:
            some = [case for case in of_role if low <= case.records / case.people < high]
            if some:
                sampled = f"{100 * low:g} to {100 * high:g} %"
                rows.append(
                    [role, sampled, str(len(some)), *(_error(some, rival) for rival in RIVALS)]
                )
    return _table(["role", "sampled", "cases", *RIVALS.values()], rows)


def _error(cases: Sequence[Case], rival: str) -> str:
    pairs = [
        (
            case.answer["uniqueness"][0] if rival == "people" else case.rivals[rival][0],
            case.truth["uniqueness"],
        )
        for case in cases
    ]
    return f"{100 * fmean(abs(one - truth) for one, truth in pairs if one is not None):.2f}"


def _persons(persons: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if not persons:
        return
    yield "\n## Persons who are not in the sample\n"
    head = [
        "corpus, fraction",
        "populations",
        "AUC",
        "FDR over 0.90 / 0.95 / 0.99",
        "recall over 0.95",
    ]
    head += ["persons over 0.95", "without shrinkage: FDR, recall over 0.95"]
    head += ["Brier / constant", "calibration", "MAE of Ξ (bias), p.p."]
    yield from _table(
        head,
        (
            [
                name,
                f"{one['populations']:.0f}",
                f"{one['auc']:.3f}",
                " / ".join(f"{100 * one[f'fdr_{level}']:.1f}" for level in (0.9, 0.95, 0.99))
                + " %",
                f"{100 * one['recall_0.95']:.0f} %",
                f"{one['named']:.0f}",
                f"{100 * one['bare fdr']:.1f} %, {100 * one['bare recall']:.0f} %",
                f"{one['brier']:.3f}",
                f"{one['calibration']:.3f}",
                f"{100 * one['mae']:.2f} ({100 * one['bias']:+.2f})",
            ]
            for name, one in persons.items()
        ),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
