"""docs/papers.md from papers.json: what the papers print, and the same figures measured here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.accuracy.published import PAPER_GIVEN, PAPER_MAE, RND, TABLE_1

Stored = Mapping[str, Any]
FOLDER: Final = Path(__file__).parent
STORED: Final = FOLDER / "papers.json"
WORDS: Final = (FOLDER / "papers.md").read_text(encoding="utf-8")
FRACTIONS: Final = {"1.0": "100 %", "0.1": "10 %", "0.05": "5 %", "0.01": "1 %", "0.005": "0.5 %"}
NAMES: Final = {"copula": "copula", "exact": "copula, exact marginals", "people": "people"}
COUNTED: Final = "counted"  # of the whole table nothing is left to estimate
LEVELS: Final = ("0.9", "0.95", "0.99")
PUBLISHED_AUC: Final = ("0.91 ± 0.05", "15.6 / 12.4 / 7.6 %")
PUBLISHED_AUC_OF_SAMPLE: Final = ("0.89 ± 0.04", "15.9 / 12.8 / 7.2 %")
PUBLISHED_F: Final = (
    "0.76",
    "0.78",
    "0.79",
    "0.80",
    "0.81",
    "0.82",
    "0.82",
    "0.82",
    "0.80",
    "0.76",
    "0.64",
)
PUBLISHED_DEVIATION: Final = {
    "0.1": "0.011 ± 0.006",
    "0.05": "0.011 ± 0.006",
    "0.01": "0.026 ± 0.014",
    "0.005": "0.029 ± 0.012",
}
PUBLISHED_REGRESSIONS: Final = {
    "estimate": ("Ξ̂ on Ξ (S4)", "0.003 ± 0.005", "1.024 ± 0.000"),
    "estimate_error": ("error of Ξ̂ on Ξ (S4)", "0.015 ± 0.004", "0.014 ± 0.005"),
    "score": ("ξ̂ on Ξ (S5)", "0.040 ± 0.037", "0.934 ± 0.106"),
    "score_error": ("error of ξ̂ on Ξ (S5)", "0.159 ± 0.067", "0.328 ± 0.178"),
}


def stored_page() -> str:
    """The page of the stored figures."""
    return page(json.loads(STORED.read_text(encoding="utf-8")))


def page(stored: Stored) -> str:
    """The page: its words, with a table in place of each mark."""
    text = WORDS.replace("<!-- populations -->", str(stored["persons"]["populations"]))
    text = text.replace("<!-- before -->", f"{stored['replaced']['before']:.3f}")
    for mark, rows in TABLES.items():
        text = text.replace(f"<!-- {mark} -->", "\n".join(rows(stored)))
    return text


def _errors(stored: Stored) -> Iterator[str]:
    found = stored["persons"]["table_1"]
    printed = {"copula": PAPER_MAE, "exact": PAPER_GIVEN}
    rows = []
    for method, name in NAMES.items():
        if method in printed:
            values = [printed[method][float(fraction)] for fraction in FRACTIONS]
            rows.append([f"*{name}, published*", *values])
        cells = [_with_bias(*found[method][fraction]) for fraction in FRACTIONS]
        rows.append([f"{name}, here", *([COUNTED, *cells[1:]] if method == "people" else cells)])
    yield from table(["", *FRACTIONS.values()], rows)


def _persons(stored: Stored) -> Iterator[str]:
    rows = []
    parts = (
        ("others", "all", PUBLISHED_AUC),
        ("sample_unique", "unique in the sample", PUBLISHED_AUC_OF_SAMPLE),
    )
    for part, name, printed in parts:
        rows.append([f"*{name}, published*", *printed])
        for method in ("copula", "people"):
            found = stored["persons"][part][method]
            rates = " / ".join(f"{100 * found['fdr'][level]:.1f}" for level in LEVELS) + " %"
            rows.append([f"{name}, {method}", _plus_minus(found["auc"], 3), rates])
    yield from table(["persons, model", "AUC", "FDR over 0.90 / 0.95 / 0.99"], rows)


def _roc(stored: Stored) -> Iterator[str]:
    found = {method: stored["persons"]["others"][method]["roc"] for method in ("copula", "people")}
    rows = [
        [method, *(f"{100 * share:.0f} %" for share in curve.values())]
        for method, curve in found.items()
    ]
    yield from table(["model", *(f"{100 * float(rate):.0f} %" for rate in found["people"])], rows)


def _f_scores(stored: Stored) -> Iterator[str]:
    found = {method: stored["persons"]["others"][method]["f"] for method in ("copula", "people")}
    rows = [["*published*", *PUBLISHED_F]]
    rows += [
        [method, *(f"{value:.2f}" for value in scores.values())] for method, scores in found.items()
    ]
    yield from table(["ξ over", *found["people"]], rows)


def _brier(stored: Stored) -> Iterator[str]:
    published = {"copula": "−39 %", "loglinear": "+233 %", "loglinear_nb": "+291 %"}
    names = {"copula": "copula", "people": "people", "loglinear": "log-linear, Poisson"}
    names["loglinear_nb"] = "log-linear, negative binomial"
    rows = []
    for method, name in names.items():
        cells = [published.get(method, "")]
        for part in ("others", "sample_unique"):
            found = stored["persons"][part].get(method)
            excess = found and found["brier"] / found["brier_of_constant"] - 1
            cells.append("" if found is None else f"{100 * excess:+.0f} %".replace("-", "−"))
        rows.append([name, *cells])
    yield from table(["model", "*published, all corpora*", "others", "unique in the sample"], rows)


def _by_columns(stored: Stored) -> Iterator[str]:
    found = stored["persons"]["by_columns"]
    rows = [
        [
            columns,
            str(one["populations"]),
            *(f"{100 * one[name]:.1f}" for name in ("truth", "copula", "people")),
        ]
        for columns, one in found.items()
    ]
    yield from table(
        ["columns", "populations", "Ξ, counted, %", "mean ξ, copula", "mean ξ, people"], rows
    )


def _replaced(stored: Stored) -> Iterator[str]:
    found = stored["replaced"]["after"]
    rows = [[name, *(f"{value:.3f}" for value in quartiles)] for name, quartiles in found.items()]
    yield from table(["column drawn anew", "lower quartile of ξ", "median", "upper quartile"], rows)


def _deviation(stored: Stored) -> Iterator[str]:
    found = stored["sizes"]["deviation"]
    yield from table(
        ["", *(FRACTIONS[fraction] for fraction in found)],
        [
            ["*published*", *(PUBLISHED_DEVIATION[fraction] for fraction in found)],
            ["here", *(_plus_minus(each, 3) for each in found.values())],
        ],
    )


def _regressions(stored: Stored) -> Iterator[str]:
    found = stored["persons"]["regressions"]
    rows = []
    for name, (words, *printed) in PUBLISHED_REGRESSIONS.items():
        row = [words]
        for place, part in enumerate(("intercept", "slope")):
            row.append(printed[place])
            cells = [_plus_minus(found[method][name][part], 3) for method in ("copula", "people")]
            row += [cells[0], COUNTED if name.startswith("estimate") else cells[1]]
        rows.append(row)
    heads = [
        f"{part}, {who}"
        for part in ("intercept", "slope")
        for who in ("*published*", "copula", "people")
    ]
    yield from table(["regression", *heads], rows)


def _sizes(stored: Stored) -> Iterator[str]:
    found = stored["sizes"]
    parts = {
        "error": "MAE of Ξ",
        "error_exact": "… with exact marginals",
        "correlation_rmse": "RMSE of Σ",
        "correlation_bias": "bias of Σ",
    }
    rows = [
        [words, *(_signed(value) for value in found[name].values())]
        for name, words in parts.items()
    ]
    yield from table(["records", *found["error"]], rows)


def _single(stored: Stored) -> Iterator[str]:
    persons, closed, triples = stored["persons"], stored["closed"], stored["interactions"]
    share = f"{100 * persons['scores_above_estimate']:.0f} %"
    rows = [
        [
            "Kullback–Leibler divergence, nats (S10)",
            "1.59 ± 1.78, all corpora",
            _plus_minus(stored["divergence"]["nats"], 2),
            "`fit_copula`, `cell_probability`",
        ],
        [
            "interaction information of three columns, nats (note 6)",
            "−0.017 ± 0.036",
            _plus_minus(triples["nats"], 3),
            "`fit_people`",
        ],
        [
            "… share above −0.1",
            "94 %, all corpora",
            f"{100 * triples['above']:.0f} %",
            "`fit_people`",
        ],
        [
            "populations whose mean ξ̂ is above Ξ̂ (note 2)",
            "66 %, all corpora",
            share,
            "`models.correct_scores`",
        ],
        [
            "κ of Governor Weld, ξ = 0.58",
            "0.77",
            f"{closed['weld']:.3f}",
            "`cell_risk`",
        ],
        [
            "… with his number of children, ξ = 0.997",
            "0.998",
            f"{closed['weld_with_children']:.4f}",
            "`cell_risk`",
        ],
    ]
    yield from table(["figure", "published", "here", "function"], rows)


def _table_1(stored: Stored) -> Iterator[str]:
    found = stored["curves"]["table_1"]
    methods = ("pyc", "ent", "exp", "pol", "rnd")
    rows = []
    for fraction, errors in found.items():
        share = float(fraction)
        printed = [*(TABLE_1[share][method] for method in methods[:-1]), RND[share]]
        pairs = (
            f"{errors[method]:.3f} (*{value:.3f}*)"
            for method, value in zip(methods, printed, strict=True)
        )
        rows.append([f"{100 * share:g} %", str(errors["tables"]), *pairs])
    yield from table(["from", "tables", "PYC-MB", "ENT", "EXP", "POL", "RND"], rows)


def _fits(stored: Stored) -> Iterator[str]:
    curves, closed = stored["curves"], stored["closed"]
    fit = curves["map"]
    divergence = curves["divergence"]
    mean = sum(divergence) / len(divergence)
    spread = (sum((each - mean) ** 2 for each in divergence) / (len(divergence) - 1)) ** 0.5
    rows = [
        [
            "MAP fit, RMSE of κ at the full size (figure 1a, S1)",
            "0.017",
            _signed(fit["rmse_at_full_size"]),
            "`pyc_fit`",
        ],
        ["… bias", "0.013", _signed(fit["bias_at_full_size"]), "`pyc_fit`"],
        ["… RMSE over all sizes of the curve", "", _signed(fit["rmse"]), "`pyc_fit`"],
        ["ENT at the full size, RMSE (S1)", "0.187", f"{curves['ent']:.3f}", "`pyc_extrapolate`"],
        [
            "divergence of the ranks, bits (S2)",
            "4.14 ± 7.55",
            _plus_minus([mean, spread], 2),
            "`pyc_fit`",
        ],
        [
            "κ(10,000) from κ(100) = 0.99, κ(1,000) = 0.80",
            "0.21",
            f"{closed['extrapolated']:.3f}",
            "`pyc_extrapolate`",
        ],
        [
            "κ of the world, 40 bits, γ = 0 (figure 5)",
            "99 %",
            f"{100 * closed['geometric_tail']:.1f} %",
            "`pyc_share`",
        ],
        ["… γ = 1", "45 %", f"{100 * closed['heavy_tail']:.1f} %", "`pyc_share`"],
        [
            "κ of 4e9 browsers, h = 41.54 nats, γ = 0.68",
            "75 %",
            f"{100 * closed['browsers']:.1f} %",
            "`pyc_share`",
        ],
    ]
    yield from table(["figure", "published", "here", "function"], rows)


def _ranks(stored: Stored) -> Iterator[str]:
    rows = [
        [
            corpus,
            str(len(shares)),
            f"{100 * sum(shares) / len(shares):.0f} %",
            f"{100 * min(shares):.0f} %",
        ]
        for corpus, shares in stored["curves"]["inside"].items()
        if shares
    ]
    yield from table(["corpus", "tables", "ranks inside the 95 % band, mean", "least"], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _plus_minus(pair: Sequence[float], digits: int) -> str:
    mean, deviation = pair
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}".replace("-", "−")


def _with_bias(mean: float, deviation: float, bias: float) -> str:
    return f"{mean:.3f} ± {deviation:.3f}, bias {_signed(bias)}"


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


TABLES: Final = {
    "errors": _errors,
    "persons": _persons,
    "roc": _roc,
    "f_scores": _f_scores,
    "brier": _brier,
    "by_columns": _by_columns,
    "replaced": _replaced,
    "deviation": _deviation,
    "regressions": _regressions,
    "sizes": _sizes,
    "single": _single,
    "table_1": _table_1,
    "fits": _fits,
    "ranks": _ranks,
}
