"""Tables of docs/accuracy_people.md from the results file; nothing in them is written by hand."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.accuracy import kinds
from benchmarks.accuracy.generated import CHOOSING, FAMILIES, HELD_OUT, INVISIBLE

Row = dict[str, Any]
FRACTIONS: Final = (0.1, 0.05, 0.01, 0.001)
FOREIGN: Final = "browser_user_agents"
SHARES: Final = {"uniqueness": "Ξ", "correctness": "κ", "below_k": "V_5"}
RIVALS: Final = {"people": "people", "loglinear_nb": "log-linear", "pitman": "Pitman", "pyc": "PYC"}
INTERVALS: Final = (  # method, its name in a row, share
    ("ewens", "ewens", "uniqueness"),
    ("pitman", "pitman", "uniqueness"),
    ("loglinear_nb", "loglinear_nb", "uniqueness"),
    ("pyc_forecast", "pyc", "uniqueness"),
    ("pyc_forecast", "pyc_correctness", "correctness"),
    ("pyc_forecast", "pyc_below_k", "below_k"),
    ("pyc_extrapolate of the sample's curve, without its errors", "tilted", "uniqueness"),
    ("pyc_extrapolate of the sample's curve, without its errors", "tilted_correctness", "correctness"),
    ("pyc_extrapolate of the sample's curve, without its errors", "tilted_below_k", "below_k"),
)
FOREIGN_DOUBTS: Final = frozenset({0, 1})  # places of those notes that take the lower end away


def page(results: Row) -> str:
    """All tables, one after another."""
    cases = [row for row in results["cases"] if row["corpus"] not in {*FAMILIES, *kinds.KINDS}]
    made = [row for row in results["cases"] if row["corpus"] in FAMILIES]
    people = [row for row in cases if row["corpus"] != FOREIGN]
    parts = [
        f"## Ξ by corpus and fraction, p.p.: mean absolute error (bias), {len(people)} held-out cases\n",
        *_errors(cases),
        "\n## All corpora of people, p.p.\n",
        *_overall(people),
        "\n## Coverage and width of the 95 % intervals, held out\n",
        *_coverage(people, cases),
        "\n## The flag for foreign data\n",
        *_flags(cases),
        *_made(made),
        *_kinds([row for row in results["cases"] if row["corpus"] in kinds.KINDS]),
        "\n## Constants, by the corpus that was left out\n",
        *_constants(results["learnt"]),
        *_persons(results["persons"]),
    ]
    return "\n".join(parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _groups(cases: Sequence[Row]) -> Iterator[tuple[str, float, list[Row]]]:
    for corpus in dict.fromkeys(row["corpus"] for row in cases):
        for fraction in FRACTIONS:
            some = [row for row in cases if row["corpus"] == corpus and row["fraction"] == fraction]
            if some:
                yield corpus, fraction, some


def _errors(cases: Sequence[Row]) -> Iterator[str]:
    head = ["corpus", "sampled", "n", "cases", *RIVALS.values(), "κ people", "κ PYC", "V_5 people", "V_5 PYC"]
    rows = (
        [
            corpus,
            f"{100 * fraction:g} %",
            str(some[0]["records"]),
            str(len(some)),
            *(_points(some, "uniqueness", rival) for rival in RIVALS),
            _points(some, "correctness", "people"),
            _points(some, "correctness", "pyc_correctness"),
            _points(some, "below_k", "people"),
            _points(some, "below_k", "pyc_below_k"),
        ]
        for corpus, fraction, some in _groups(cases)
    )
    return _table(head, rows)


def _overall(people: Sequence[Row]) -> Iterator[str]:
    head = ["sampled", "cases", "measure", *RIVALS.values(), "κ people", "κ PYC"]
    measures: dict[str, Callable[[np.ndarray], float]] = {
        "MAE": lambda e: float(np.abs(e).mean()),
        "RMSE": lambda e: float(np.sqrt((e**2).mean())),
        "bias": lambda e: float(e.mean()),
    }
    rows = []
    for fraction in FRACTIONS:
        some = [row for row in people if row["fraction"] == fraction]
        for name, measure in measures.items() if some else ():
            found = [measure(_error(some, "uniqueness", rival)) for rival in RIVALS]
            found += [measure(_error(some, "correctness", rival)) for rival in ("people", "pyc_correctness")]
            rows.append([f"{100 * fraction:g} %", str(len(some)), name, *(f"{100 * v:.2f}" for v in found)])
    return _table(head, rows)


def _coverage(people: Sequence[Row], cases: Sequence[Row]) -> Iterator[str]:
    corpora = list(dict.fromkeys(row["corpus"] for row in cases))
    head = ["corpus", "cases", *(f"{sign}: holds, mean (median) width" for sign in SHARES.values())]
    groups = [(corpus, [row for row in cases if row["corpus"] == corpus]) for corpus in corpora]
    groups += [("all of people", list(people))]
    groups += [
        (f"all of people, {100 * f:g} %", [row for row in people if row["fraction"] == f]) for f in FRACTIONS
    ]
    inner = [row for row in people if 0.01 < row["uniqueness"][0] < 0.99]
    groups += [("all of people, 0.01 < Ξ < 0.99", inner)]
    return _table(
        head,
        ([name, str(len(some)), *(_held(some, share) for share in SHARES)] for name, some in groups if some),
    )


def _held(some: Sequence[Row], share: str) -> str:
    truth, _, low, high = np.array([row[share] for row in some]).T
    held = ((low <= truth + 1e-6) & (truth <= high + 1e-6)).mean()
    width = high - low
    return f"{100 * held:.1f} %, {width.mean():.3f} ({np.median(width):.3f})"


def _flags(cases: Sequence[Row]) -> Iterator[str]:
    rows = []
    for corpus in dict.fromkeys(row["corpus"] for row in cases):
        some = [row for row in cases if row["corpus"] == corpus]
        above = [row["uniqueness"][0] <= row["uniqueness"][3] + 1e-6 for row in some]
        far = [str(sum(doubt in row["doubts"] for row in some)) for doubt in sorted(FOREIGN_DOUBTS)]
        rows.append(
            [corpus, str(len(some)), *far, str(_doubted(some)), f"{100 * float(np.mean(above)):.0f} %"]
        )
    head = ["corpus", "cases", "far above the log-linear model", "cells scatter far", "either"]
    return _table([*head, "truth of Ξ at most the upper end"], rows)


def _doubted(some: Sequence[Row]) -> int:
    return sum(not FOREIGN_DOUBTS.isdisjoint(row["doubts"]) for row in some)


def _made(made: Sequence[Row]) -> Iterator[str]:
    if not made:
        return
    yield "\n## Tables of other kinds, drawn from laws that are known\n"
    head = ["family", "role", "cases", "flagged", *(f"{sign}: holds, mean width" for sign in SHARES.values())]
    rows = []
    for role, names in (("choosing", CHOOSING), ("held out", HELD_OUT)):
        groups = [(name, [row for row in made if row["corpus"] == name]) for name in names]
        of_role = [row for row in made if row["corpus"] in names]
        plain = [row for row in of_role if row["corpus"] not in INVISIBLE]
        groups += (
            [(f"all {role}, without {' and '.join(INVISIBLE)}", plain)] if len(plain) < len(of_role) else []
        )
        groups += [(f"all {role}", of_role)]
        if role == "held out":
            sizes = sorted({row["records"] for row in made})
            groups += [(f"held out, n = {n}", [r for r in of_role if r["records"] == n]) for n in sizes]
        rows += [[name, role, *_of_made(some)] for name, some in groups if some]
    yield from _table(head, rows)


def _of_made(some: Sequence[Row]) -> Iterator[str]:
    yield str(len(some))
    yield str(_doubted(some))
    for share in SHARES:
        truth, _, low, high = np.array([row[share] for row in some]).T
        held = ((low <= truth + 1e-6) & (truth <= high + 1e-6)).mean()
        yield f"{100 * held:.1f} %, {(high - low).mean():.2f}"


def _kinds(made: Sequence[Row]) -> Iterator[str]:
    """Intervals of every method on kinds that were drawn after the rest was chosen."""
    if not made:
        return
    roles = {
        "choosing": kinds.CHOOSING,
        "held out": kinds.HELD_OUT,
        "samples that are not random": kinds.NOT_RANDOM,
    }
    yield "\n## Kinds of tables that came later\n"
    head = ["kind", "role", "cases"]
    head += [f"{sign}: below, above the interval, mean width" for sign in SHARES.values()]
    rows = []
    for role, names in roles.items():
        groups = [(name, [row for row in made if row["corpus"] == name]) for name in names]
        groups += [(f"all {role}", [row for row in made if row["corpus"] in names])]
        rows += [
            [name, role, str(len(some)), *(_missed([row[share] for row in some]) for share in SHARES)]
            for name, some in groups
            if some
        ]
    yield from _table(head, rows)
    random = [row for row in made if row["corpus"] not in kinds.NOT_RANDOM]
    yield "\n## Intervals of the other methods, on random samples of these kinds\n"
    yield from _table(
        ["method", "share", "cases", "below, above the interval, mean width"],
        (
            [method, SHARES[share], str(len(ends)), _missed(ends)]
            for method, name, share in INTERVALS
            if (ends := [[row[share][0], *row[name]] for row in random if None not in row.get(name, [None])])
        ),
    )


def _missed(ends: Sequence[Sequence[float]]) -> str:
    """How many truths lie below and above the interval, of (truth, estimate, low, high)."""
    truth, _, low, high = np.array(ends).T
    below, above = (truth < low - 1e-6).mean(), (truth > high + 1e-6).mean()
    return f"{100 * below:.1f} %, {100 * above:.1f} %, {(high - low).mean():.2f}"


def _constants(learnt: Row) -> Iterator[str]:
    rows = (
        [
            name,
            *(f"{one['law'][part]:g}" for part in ("shift", "drift")),
            f"{one['power']:g}",
            *(f"{one['z'][share]:.2f}" for share in SHARES),
        ]
        for name, one in learnt.items()
    )
    return _table(
        ["left out", "shift", "drift", "power", *(f"z of {sign}" for sign in SHARES.values())], rows
    )


def _persons(persons: Row) -> Iterator[str]:
    if not persons:
        return
    yield "\n## Persons who are not in the sample\n"
    head = ["corpus, fraction", "populations", "AUC", "FDR over 0.90 / 0.95 / 0.99", "recall over 0.95"]
    head += ["persons over 0.95", "without caution: FDR, recall over 0.95"]
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


def _error(some: Sequence[Row], share: str, rival: str) -> np.ndarray:
    if rival == "people":
        return np.array([row[share][1] - row[share][0] for row in some])
    return np.array([row[rival][0] - row[share][0] for row in some if row[rival][0] is not None])


def _points(some: Sequence[Row], share: str, rival: str) -> str:
    errors = 100 * _error(some, share, rival)
    return f"{np.abs(errors).mean():.2f} ({errors.mean():+.2f})" if len(errors) else "none"
