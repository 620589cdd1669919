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


def page(cases: Sequence[Case], persons: Mapping[str, Mapping[str, float]]) -> str:
    """All tables, one after another."""
    parts = ["## Coverage, width and error by family, in per cent and percentage points\n", *coverage(cases)]
    parts += ["\n## Error of Ξ on people, in percentage points\n", *errors(cases)]
    parts += _persons(persons)
    return "\n".join(parts)


def coverage(cases: Sequence[Case]) -> Iterator[str]:
    """How often each interval contains the truth, by family and role."""
    rows = []
    for name, family in FAMILIES.items():
        for role, some in (("chosen on", family.choose(cases)), ("held out", family.hold_out(cases))):
            if some:
                tables = len({case.name for case in some})
                rows.append([name, role, str(tables), str(len(some)), *(_held(some, s) for s in SHARES)])
    head = [f"{sign}: contained, above, width, error" for sign in SYMBOLS.values()]
    return _table(["family", "role", "tables", "cases", *head], rows)


def _held(cases: Sequence[Case], share: str) -> str:
    ends = [(case.truth[share], *case.answer[share]) for case in cases]
    held = fmean(low - TOLERANCE <= truth <= high + TOLERANCE for truth, _, low, high in ends)
    above = fmean(truth > high + TOLERANCE for truth, _, _, high in ends)
    width = fmean(high - low for _, _, low, high in ends)
    error = fmean(abs(estimate - truth) for truth, estimate, _, _ in ends)
    return f"{100 * held:.0f}, {100 * above:.1f}, {100 * width:.1f}, {100 * error:.1f}"


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
                rows.append([role, sampled, str(len(some)), *(_error(some, rival) for rival in RIVALS)])
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
    head = ["corpus, fraction", "populations", "AUC", "FDR over 0.90 / 0.95 / 0.99", "recall over 0.95"]
    head += ["persons over 0.95", "without shrinkage: FDR, recall over 0.95"]
    head += ["Brier / constant", "calibration", "MAE of Ξ (bias), p.p."]
    yield from _table(
        head,
        (
            [
                name,
                f"{one['populations']:.0f}",
                f"{one['auc']:.3f}",
                " / ".join(f"{100 * one[f'fdr_{level}']:.1f}" for level in (0.9, 0.95, 0.99)) + " %",
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
