"""What `reid_sql.models` offers by name; it is imported when the first of it is asked for."""

from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.models.attacker.adversary import score_known_records as adversary_risk
from reid_sql.models.attacker.adversary_summary import summarize_adversary as adversary_summary
from reid_sql.models.attacker.scenario import Scenario, scenario
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
from reid_sql.models.classes.uniqueness import (
    correctness_curve,
    correctness_from_probability,
    correctness_from_uniqueness,
    uniqueness_curve,
    uniqueness_from_probability,
)
from reid_sql.models.classes.wildcard import blank_records, wildcard_class_sizes
from reid_sql.models.copula.calibration import ScoredClasses, correct_scores, record_risk
from reid_sql.models.copula.copula_file import copula_from_json, copula_to_json
from reid_sql.models.copula.copula_fit import fit_copula
from reid_sql.models.copula.gaussian_copula import GaussianCopula, forecast_copula
from reid_sql.models.copula.gaussian_copula import sample_codes as sample_copula
from reid_sql.models.evidence import EvidenceRows, rows_from_columns
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.extreme_risk import estimate_extreme_risk as extreme_risk
from reid_sql.models.population.classical_estimators import Estimate
from reid_sql.models.population.individual_risk import WeightedRecords
from reid_sql.models.population.individual_risk import score_weighted_records as individual_risk
from reid_sql.models.population.loglinear import FittedRecords
from reid_sql.models.population.loglinear import score_fitted_records as loglinear_risk
from reid_sql.models.population.pitman import fit_pitman
from reid_sql.models.population.population_uniqueness import Estimator, UniquenessEvidence
from reid_sql.models.population.population_uniqueness import (
    estimate_by_methods as population_uniqueness,
)
from reid_sql.models.pyc.extrapolation import extrapolate as extrapolate_pyc
from reid_sql.models.pyc.pitman_yor import correctness as pyc_correctness
from reid_sql.models.pyc.pitman_yor import fit_pitman_yor as fit_pyc
from reid_sql.models.pyc.pitman_yor import k_violation as pyc_k_violation
from reid_sql.models.pyc.pitman_yor import uniqueness as pyc_uniqueness
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor as forecast_pyc

__all__ = [
    "Codes",
    "Estimate",
    "Estimator",
    "EvidenceRows",
    "FittedRecords",
    "GaussianCopula",
    "Histogram",
    "KnownRecords",
    "Level",
    "Scenario",
    "ScoredClasses",
    "UniquenessEvidence",
    "WeightedRecords",
    "adversary_risk",
    "adversary_summary",
    "blank_records",
    "choose_quasi_identifiers",
    "class_risk",
    "copula_from_json",
    "copula_to_json",
    "correct_scores",
    "correctness_curve",
    "correctness_from_probability",
    "correctness_from_uniqueness",
    "extrapolate_pyc",
    "extreme_risk",
    "fit_copula",
    "fit_pitman",
    "fit_pyc",
    "forecast_copula",
    "forecast_pyc",
    "individual_risk",
    "loglinear_risk",
    "population_uniqueness",
    "pyc_correctness",
    "pyc_k_violation",
    "pyc_uniqueness",
    "record_risk",
    "rows_from_columns",
    "sample_copula",
    "scenario",
    "uniqueness_curve",
    "uniqueness_from_probability",
    "wildcard_class_sizes",
]
