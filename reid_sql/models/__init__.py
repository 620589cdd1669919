"""The models behind the functions, for Python: small numpy arrays in, numbers with a status out.

The numbers come with their uncertainty. The models use no engine, read no file and store nothing between
calls. Each has words, its source and an example of its own, as in `help(models.class_risk)`. All of it is
imported when the first name is used.

- Closed forms: `uniqueness_from_probability`, `correctness_from_probability`, `correctness_from_uniqueness`,
  `pyc_correctness`, `pyc_uniqueness`, `pyc_k_violation`.
- Classes, by their `Histogram`: `class_risk`, `correctness_curve`, `uniqueness_curve`; where NULL may be any
  value: `wildcard_class_sizes`, `blank_records`.
- Uniqueness in the population: `population_uniqueness` asks each `Estimator` for its `Estimate` of what a
  `UniquenessEvidence` contains; `fit_pitman` gives the parameters.
- Entropy and tail: `fit_pyc`, `forecast_pyc`, `extrapolate_pyc`.
- A Gaussian copula: `fit_copula` of `EvidenceRows`, such as `rows_from_columns` counts, gives a
  `GaussianCopula`; `forecast_copula`, `record_risk`, `copula_to_json`, `copula_from_json`; `sample_copula`
  draws codes of records, and `correct_scores` of `ScoredClasses` fits the exponent of the corrected scores.
- Single records: `loglinear_risk` of `FittedRecords`, `individual_risk` of `WeightedRecords`.
- Attackers: `adversary_risk` and `adversary_summary` of `KnownRecords`, against a `Scenario` as `scenario`
  reads it.
- Extreme risk: `choose_quasi_identifiers` of `Codes`, and `extreme_risk` at a `Level`.

>>> from reid_sql import models
>>> round(float(models.uniqueness_from_probability(0.01, 101)), 6)
0.366032
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reid_sql.models.public_api import *  # noqa: F403 - for type checkers, what __getattr__ gives


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function or a class
    """Import a public name when it is first used."""
    if name == "registry":  # fitted models are outside of this package, and reachable from here
        return import_module("reid_sql.engines.registry")
    if not name.startswith("_"):
        public_api = import_module("reid_sql.models.public_api")
        if name in public_api.__all__:
            return getattr(public_api, name)
    raise AttributeError(f"module 'reid_sql.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *import_module("reid_sql.models.public_api").__all__]
