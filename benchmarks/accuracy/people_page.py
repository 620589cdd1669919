"""Tables of docs/accuracy_people.md from the results file; nothing in them is written by hand."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

Row = dict[str, Any]
FRACTIONS: Final = (0.1, 0.05, 0.01, 0.001)
FOREIGN: Final = "browser_user_agents"
SHARES: Final = {"uniqueness": "Ξ", "correctness": "κ", "below_k": "V_5"}
RIVALS: Final = {"people": "people", "loglinear_nb": "log-linear", "pitman": "Pitman", "pyc": "PYC"}
FLAG: Final = 0.02  # of the product: above the log-linear model by more, the data count as foreign


def page(results: Row) -> str:
    """All tables, one after another."""
    cases = results["cases"]
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
        some = [row for row in cases if row["corpus"] == corpus and row["main_effects"][0] is not None]
        fired = [row["uniqueness"][1] - row["main_effects"][0] > FLAG for row in some]
        above = [row["uniqueness"][0] <= row["uniqueness"][3] + 1e-6 for row in some]
        rows.append([corpus, str(len(some)), str(sum(fired)), f"{100 * float(np.mean(above)):.0f} %"])
    return _table(["corpus", "cases", "flagged", "truth of Ξ at most the upper end"], rows)


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
