"""The measures that a policy can name. A measure on a new function is one entry."""

from typing import Final

from reid_sql.check.catalogue_outputs import CELLS, PUBLISHED_TABLES, RELEASES, SYNTHETIC
from reid_sql.check.measure import Measure, count_sets, highest, row_of, sum_of
from reid_sql.function import Parameter
from reid_sql.models.classes.identifying_sets import AT_LEAST, MAX_SETS
from reid_sql.models.classes.rare_combinations import LEAST_SHARED
from reid_sql.models.copula.calibration import SAMPLE_USE
from reid_sql.models.copula.gaussian_copula import METHODS
from reid_sql.models.population import population_uniqueness
from reid_sql.models.population_risk.answer import METHOD
from reid_sql.parameters import POINTS, PROBABILITY, SEED, Choice

ATTACK_PARAMETERS: Final = (
    Parameter("risk", Choice(("prosecutor", "journalist", "marketer", "overall")), "overall"),
)
ESTIMATES: Final = ("population_tbl", "model")  # a check rests on the estimate that needs neither

_CLASSES: Final = (
    Measure(
        "k",
        "records in the smallest class",
        "risk_summary",
        "k",
        "count",
        at_least=True,
        extreme=True,
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "unique_records",
        "records that share their values with no other",
        "risk_summary",
        "unique_records",
        "count",
        of_records=True,
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "uniqueness",
        "share of records that share their values with no other",
        "risk_summary",
        "uniqueness",
        of_records=True,
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "records_at_risk",
        "share of records with a risk above the threshold",
        "risk_summary",
        "records_at_risk",
        of_records=True,
        monotone=True,
    ),
    Measure(
        "highest_risk",
        "chance to be right about the most exposed person",
        "risk_summary",
        "highest_risk",
        extreme=True,
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "average_risk",
        "share of right matches if an attacker links everybody",
        "risk_summary",
        "average_risk",
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "average_class_risk",
        "mean over the classes of 1/size",
        "risk_summary",
        "average_class_risk",
        of_classes=True,
        unused=("threshold",),
    ),
    Measure(
        "distinction",
        "distinct combinations per record, of the columns that distinguish most",
        "attribute_risk",
        "distinction",
        pick=highest("distinction"),
        monotone=True,
    ),
    Measure(
        "separation",
        "share of pairs of records that differ, by the columns that distinguish most",
        "attribute_risk",
        "separation",
        pick=highest("separation"),
        monotone=True,
    ),
)
_COLUMN_SETS: Final = (
    Measure(
        "keys",
        "minimal sets of at most max_size columns by which every record is unique, or a share_unique of them",
        "quasi_identifiers",
        "sets",
        "count",
        extreme=True,
        own=(Parameter("share_unique", AT_LEAST, 1.0), Parameter("max_sets", MAX_SETS, 1_000_000)),
        unused=("sets",),
        renamed=(("at_least", "share_unique"),),
        pick=count_sets,
    ),
    Measure(
        "unsafe_combinations",
        "minimal combinations of at most max_size values that fewer than k records share",
        "unsafe_combinations",
        "combinations",
        "count",
        of_records=True,
        own=(Parameter("k", LEAST_SHARED, 5),),
        pick=sum_of("combinations"),
    ),
)
_POPULATION_TABLE: Final = (
    Measure(
        "journalist_highest_risk",
        "chance to be right about the most exposed person, found in the population table",
        "journalist_risk",
        "highest_risk",
        extreme=True,
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "journalist_average_risk",
        "share of people found rightly in the population table",
        "journalist_risk",
        "average_risk",
        unused=("threshold",),
        monotone=True,
    ),
    Measure(
        "journalist_records_at_risk",
        "share of records with a risk above the threshold against the population table",
        "journalist_risk",
        "records_at_risk",
        of_records=True,
        monotone=True,
    ),
)
_FORECAST: Final = (
    Measure(
        "forecast_correctness",
        "share of right matches to expect in the population",
        "pyc_forecast",
        "correctness",
        interval=True,
        unused=("k",),
    ),
    Measure(
        "forecast_uniqueness",
        "share of unique people to expect in the population",
        "pyc_forecast",
        "uniqueness",
        interval=True,
        unused=("k",),
    ),
    Measure(
        "forecast_k_violation",
        "share of people to expect in classes smaller than k in the population",
        "pyc_forecast",
        "k_violation",
        interval=True,
    ),
    Measure(
        "entropy",
        "nats of information in the quasi-identifiers (Pitman–Yor)",
        "pyc_fit",
        "entropy",
        "number",
        interval=True,
    ),
)
_ESTIMATED: Final = (
    Measure(
        "population_uniqueness",
        "share of the population that is unique, by the model of people or the method that is named",
        "population_risk",
        "uniqueness",
        interval=True,
        own=(
            Parameter(
                "method", Choice(tuple(dict.fromkeys((METHOD, *population_uniqueness.METHODS)))), METHOD
            ),
        ),
        unused=("k",),
        older="population_uniqueness",
    ),
    Measure(
        "population_correctness",
        "chance that a match on the quasi-identifiers is right in the population, by the model of people",
        "population_risk",
        "correctness",
        interval=True,
        unused=("k",),
    ),
    Measure(
        "population_below_k",
        "share of the population in classes smaller than k, by the model of people",
        "population_risk",
        "below_k",
        interval=True,
    ),
)
_EXTREME: Final = (
    Measure(
        "qar",
        "risk that only a share alpha of all choices of p columns exceed (QaR)",
        "qar_risk",
        "risk",
        interval=True,
    ),
)
_ATTACKER: Final = tuple(
    Measure(
        f"adversary_{column}",
        f"{words} against the attacker of a scenario",
        "adversary_summary",
        column,
        own=ATTACK_PARAMETERS,
        pick=row_of("measure", "risk"),
        of_records=column == "records_at_risk",
        extreme=column in ("median", "highest"),
        unused=(*ESTIMATES, *(() if column == "records_at_risk" else ("threshold",))),
    )
    for column, words in (
        ("average", "mean risk of a record"),
        ("median", "median risk of a record"),
        ("highest", "highest risk of a record"),
        ("records_at_risk", "share of records with a risk above the threshold"),
    )
)
_SENSITIVE: Final = (
    Measure(
        "l_diversity",
        "sensitive values in the poorest class",
        "l_diversity",
        "value",
        "number",
        at_least=True,
        extreme=True,
        unused=("l",),
        monotone=True,
    ),
    Measure(
        "t_closeness",
        "distance of a class's sensitive values from the table's",
        "t_closeness",
        "value",
        extreme=True,
        relative="distance",
        unused=("t",),
        monotone=True,
    ),
    Measure(
        "alpha_k_anonymity",
        "share of the most frequent sensitive value in a class",
        "alpha_k_anonymity",
        "value",
        extreme=True,
        unused=("alpha", "k"),
        monotone=True,
    ),
    Measure(
        "beta_likeness",
        "gain in the share of a sensitive value in a class, relative to the table",
        "beta_likeness",
        "value",
        "number",
        extreme=True,
        relative="gain",
        unused=("beta",),
        monotone=True,
    ),
    Measure(
        "delta_disclosure",
        "logarithm of the factor between a sensitive value's shares in a class and in the table",
        "delta_disclosure",
        "value",
        "number",
        extreme=True,
        relative="log",
        unused=("delta",),
        monotone=True,
    ),
)
_OFFENDING: Final = tuple(
    Measure(
        f"{measure.name}_offending",
        f"share of records in classes that break {measure.name} at its threshold",
        measure.function,
        "offending_share",
        of_records=True,
    )
    for measure in _SENSITIVE
)
COPULA_PARAMETERS: Final = (
    Parameter("threshold", PROBABILITY, 0.95),
    Parameter("sample", SAMPLE_USE, "known"),  # the table is the sample: by 'ignored' its scores are too low
    Parameter("method", Choice(METHODS), "paper"),
    Parameter("seed", SEED, 0),
)
_COPULA: Final = tuple(
    Measure(
        name,
        words,
        "score_records",
        "share",
        of_records=True,
        own=COPULA_PARAMETERS,
        over=f"{column} > $threshold",
    )
    for name, column, words in (
        (
            "xi_share",
            "uniqueness_xi",
            "share of records with a probability ξ above the threshold to be unique in the population",
        ),
        (
            "kappa_share",
            "correctness_kappa",
            "share of records on which a match is right with a probability κ above the threshold",
        ),
    )
)
_SETS: Final = (
    Measure(
        "sparse_correctness",
        "share of people distinguished by a few of their items, in the whole table",
        "sparse_correctness_curve",
        "correctness",
        interval=True,
        pick=highest("n"),
    ),
    Measure(
        "unicity",
        "share of people whom a few known rows of theirs single out",
        "unicity",
        "uniqueness",
        interval=True,
        own=(Parameter("points", POINTS, 4),),
    ),
    Measure(
        "unicity_correctness",
        "chance that an attacker who knows a few rows of a person names the right one",
        "unicity",
        "correctness",
        interval=True,
        own=(Parameter("points", POINTS, 4),),
    ),
)
_HOUSEHOLDS: Final = (
    Measure(
        "household_average_risk",
        "mean over people of the chance that a member of their household is identified",
        "household_risk",
        "average_risk",
        unused=("threshold",),
    ),
    Measure(
        "household_highest_risk",
        "highest chance that a member of a household is identified",
        "household_risk",
        "highest_risk",
        extreme=True,
        unused=("threshold",),
    ),
    Measure(
        "households_at_risk",
        "share of households with a risk above the threshold",
        "household_risk",
        "households_at_risk",
        of_records=True,
    ),
    Measure(
        "household_uniqueness",
        "share of households whose members' values no other household has",
        "household_risk",
        "uniqueness",
        of_records=True,
        unused=("threshold",),
    ),
)

ALL: Final = (
    *(*_CLASSES, *_COLUMN_SETS, *_POPULATION_TABLE, *_FORECAST, *_ESTIMATED, *_EXTREME),
    *(
        *_ATTACKER,
        *_SENSITIVE,
        *_OFFENDING,
        *_COPULA,
        *_SETS,
        *_HOUSEHOLDS,
        *SYNTHETIC,
        *CELLS,
        *PUBLISHED_TABLES,
        *RELEASES,
    ),
)
MEASURES: Final = {measure.name: measure for measure in ALL}
