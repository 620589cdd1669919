"""What the populations of adult came out as, in the statistics that the paper of 2019 prints."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.accuracy.copula_summary import THRESHOLDS, area
from benchmarks.accuracy.papers_2019 import FRACTIONS
from reid_sql.parameters import Floats

Raw = Sequence[Mapping[str, Any]]
METHODS: Final = ("copula", "people")
LOG_LINEAR: Final = ("loglinear", "loglinear_nb")
FALSE_POSITIVES: Final = (0.01, 0.05, 0.1, 0.2, 0.5)  # of a ROC curve
CUTOFFS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MAX_SYNERGY: Final = -0.1  # nats


def summarize_persons(raw: Raw) -> dict[str, Any]:
    """Tables 1, S1, S4 to S7, figures 2, 3b, S10 and S12."""
    return {
        "populations": len(raw),
        "table_1": {method: _errors(raw, method) for method in ("copula", "exact", "people")},
        "others": {method: judge(_scores(raw, "others", method)) for method in METHODS},
        "sample_unique": {
            method: judge(_scores(raw, "sample", method)) for method in (*METHODS, *LOG_LINEAR)
        },
        "by_columns": _by_columns(raw),
        "regressions": {method: _regressions(raw, method) for method in METHODS},
        "scores_above_estimate": float(np.mean([_scores_are_above(one) for one in raw])),
    }


def summarize_sizes(raw: Raw) -> dict[str, Any]:
    """Table S3, figures S9 and S11."""
    sizes = list(raw[0]["errors"])
    differences = {
        size: np.concatenate([one["correlation"][size] for one in raw]) for size in sizes
    }
    return {
        "populations": len(raw),
        "deviation": {
            str(fraction): mean_and_deviation([one["deviation"][str(fraction)] for one in raw])
            for fraction in FRACTIONS[1:]
        },
        "error": {size: _mean_absolute(raw, "errors", size) for size in sizes},
        "error_exact": {size: _mean_absolute(raw, "exact", size) for size in sizes},
        "correlation_rmse": {size: _rms(each) for size, each in differences.items()},
        "correlation_bias": {size: float(each.mean()) for size, each in differences.items()},
    }


def summarize_divergence(raw: Raw) -> dict[str, Any]:
    """Figure S10."""
    return {
        "nats": mean_and_deviation([one["nats"] for one in raw]),
        "known": float(np.mean([one["known"] for one in raw])),
    }


def summarize_interactions(nats: Sequence[float]) -> dict[str, Any]:
    """Mean, deviation, and the share of triples that hide little."""
    return {"nats": mean_and_deviation(nats), "above": float(np.mean(np.array(nats) > MAX_SYNERGY))}


def judge(scored: Sequence[tuple[Floats, Floats]]) -> dict[str, Any]:
    """AUC, ROC curve, false discoveries, F-scores and Brier score of scores and truths by population."""
    mixed = [pair for pair in scored if 0 < pair[1].mean() < 1]
    xi, unique = (np.concatenate(parts) for parts in zip(*scored, strict=True))
    constant = np.concatenate([np.full(len(true), true.mean()) for _, true in scored])
    return {
        "auc": mean_and_deviation([area(*pair) for pair in mixed]),
        "roc": {
            str(rate): float(np.mean([true_positives(*p, rate) for p in mixed]))
            for rate in FALSE_POSITIVES
        },
        "fdr": {str(level): _false_discoveries(xi, unique, level) for level in THRESHOLDS},
        "f": {str(level): f_score(xi, unique, level) for level in CUTOFFS},
        "brier": float(((xi - unique) ** 2).mean()),
        "brier_of_constant": float(((constant - unique) ** 2).mean()),
    }


def true_positives(xi: Floats, unique: Floats, false_positives: float) -> float:
    """Share of the unique persons above the score that this share of the others exceeds."""
    return float((xi[unique == 1] > np.quantile(xi[unique == 0], 1 - false_positives)).mean())


def f_score(xi: Floats, unique: Floats, level: float) -> float:
    """Harmonic mean of precision and recall of the persons whose score is above a level."""
    named = xi > level
    return float(2 * (named & (unique == 1)).sum() / max(named.sum() + (unique == 1).sum(), 1))


def regress(x: Floats, y: Floats) -> dict[str, list[float]]:
    """Intercept and slope by least squares, each with its standard error."""
    design = np.stack([np.ones_like(x), x], axis=1)
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residual = y - design @ coefficients
    errors = np.sqrt(np.diag(inverse) * (residual @ residual) / (len(x) - 2))
    return {
        "intercept": [float(coefficients[0]), float(errors[0])],
        "slope": [float(coefficients[1]), float(errors[1])],
    }


def mean_and_deviation(values: Sequence[float]) -> list[float]:
    """Mean and standard deviation."""
    return [float(np.mean(values)), float(np.std(values, ddof=1))]


def _errors(raw: Raw, method: str) -> dict[str, list[float]]:
    by_fraction = {str(f): [one["errors"][method].get(str(f)) for one in raw] for f in FRACTIONS}
    return {
        fraction: [*mean_and_deviation(np.abs(errors).tolist()), float(np.mean(errors))]
        for fraction, errors in by_fraction.items()
    }


def _scores(raw: Raw, part: str, method: str) -> list[tuple[Floats, Floats]]:
    return [
        (np.array(own[method], dtype=float), np.array(own["unique"], dtype=float))
        for own in (one["persons"][part] for one in raw)
        if len(own["unique"])
    ]


def _by_columns(raw: Raw) -> dict[str, dict[str, float]]:
    """Mean ξ of persons and Ξ by the number of columns."""
    found = {}
    for columns in sorted({one["columns"] for one in raw}):
        some = [one for one in raw if one["columns"] == columns]
        means = {
            m: float(np.mean([np.mean(one["persons"]["others"][m]) for one in some]))
            for m in METHODS
        }
        truth = float(np.mean([one["uniqueness"] for one in some]))
        found[str(columns)] = means | {"truth": truth, "populations": len(some)}
    return found


def _regressions(raw: Raw, method: str) -> dict[str, Any]:
    """Estimates of Ξ and mean scores on Ξ, and their errors on Ξ."""
    truth = np.array([one["uniqueness"] for one in raw])
    errors = np.array([one["errors"][method]["1.0"] for one in raw])
    scored = _scores(raw, "others", method)
    mean = np.array([xi.mean() for xi, _ in scored])
    rms = np.array([_rms(xi - unique) for xi, unique in scored])
    return {
        "estimate": regress(truth, truth + errors),
        "estimate_error": regress(truth, np.abs(errors)),
        "score": regress(truth, mean),
        "score_error": regress(truth, rms),
    }


def _scores_are_above(one: Mapping[str, Any]) -> bool:
    estimate = one["uniqueness"] + one["errors"]["copula"]["0.01"]
    return bool(np.mean(one["persons"]["others"]["copula"]) > estimate)


def _mean_absolute(raw: Raw, name: str, size: str) -> float:
    return float(np.mean(np.abs([one[name][size] for one in raw])))


def _rms(errors: Floats) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _false_discoveries(xi: Floats, unique: Floats, level: float) -> float:
    named = xi > level
    return float((unique[named] == 0).mean()) if named.any() else float("nan")
