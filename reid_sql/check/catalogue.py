"""The measures that a policy can name. A measure on a new function is one row."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from reid_sql.check.measure import (
    Measure,
    count_cells,
    count_rules,
    count_sets,
    highest,
    largest_of,
    people_of_cells,
    people_of_revealed,
    strongest,
    sum_combinations,
    whole_join,
)
from reid_sql.models.classes.identifying_sets import AT_LEAST, MAX_SETS
from reid_sql.models.classes.rare_combinations import LEAST_SHARED
from reid_sql.models.copula.calibration import SAMPLE_USE
from reid_sql.models.copula.gaussian_copula import METHODS
from reid_sql.models.population import population_uniqueness
from reid_sql.models.population_risk.answer import METHOD
from reid_sql.models.synthetic.membership import MEMBERSHIP
from reid_sql.models.synthetic.sure_inference import ATTACKS as ABSTAINING
from reid_sql.models.tables.audit import BELOW_K, PUBLISHED, RECOVERED, SEVERAL_TABLES
from reid_sql.parameters import ORDERED, POINTS, PROBABILITY, SEED, Choice, Column, Number
from reid_sql.parameters.outputs import Parameter
from reid_sql.reductions.disclosure import THRESHOLDS
from reid_sql.reductions.tables import DOMINANCE_RULE
from reid_sql.sql.cells import DOMINANCE, FEW_PEOPLE, P_PERCENT

Row = tuple[str, str, Mapping[str, Any]]


def _measures(function: str, *rows: Row, **shared: Any) -> tuple[Measure, ...]:  # noqa: ANN401 - as Measure has them
    """Make the measures of a function: a name, words, and what differs from what the rows share.

    The column of the answer is called as the measure, unless a row says otherwise.
    """
    return tuple(
        Measure(name, words, **{"function": function, "column": name, **shared, **fields})
        for name, words, fields in rows
    )


# shares of the records above the threshold
OF_THRESHOLD: Final = {"unused": ()}
COUNT: Final = {"unit": "count"}
NUMBER: Final = {"unit": "number"}
NO_THRESHOLD: Final = ("threshold",)
GAIN: Final = {"unused": NO_THRESHOLD}
ESTIMATES: Final = ("population_tbl", "model")  # a check rests on the estimate that needs neither
ATTACK: Final = Parameter(
    "risk", Choice(("prosecutor", "journalist", "marketer", "overall")), "overall"
)
METHOD_PARAMETER: Final = Parameter(
    "method", Choice(tuple(dict.fromkeys((METHOD, *population_uniqueness.METHODS)))), METHOD
)
COPULA_PARAMETERS: Final = (
    Parameter("threshold", PROBABILITY, 0.95),
    # the table is the sample: by 'ignored' its scores are too low
    Parameter("sample", SAMPLE_USE, "known"),
    Parameter("method", Choice(METHODS), "paper"),
    Parameter("seed", SEED, 0),
)
KEYS: Final = "minimal sets of at most max_size columns"
OF_SUMS: Final = ("entity", "value", "largest", "dominance", "p_percent")
SUPPRESSING: Final = ("suppress", "protection", "zeros", "base", "output")

_BEFORE_SENSITIVE: Final = (
    *_measures(
        "risk_summary",
        ("k", "records in the smallest class", COUNT | {"at_least": True}),
        ("unique_records", "records that share their values with no other", COUNT),
        ("uniqueness", "share of records that share their values with no other", {}),
        ("records_at_risk", "share of records with a risk above the threshold", OF_THRESHOLD),
        ("highest_risk", "chance to be right about the most exposed person", {}),
        ("average_risk", "share of right matches if an attacker links everybody", {}),
        (
            "average_class_risk",
            "mean over the classes of 1/size",
            {"monotone": False},
        ),
        unused=NO_THRESHOLD,
        monotone=True,
    ),
    *_measures(
        "attribute_risk",
        (
            "distinction",
            "distinct combinations per record, of the columns that distinguish most",
            {"pick": partial(highest, column="distinction")},
        ),
        (
            "separation",
            "share of pairs of records that differ, by the columns that distinguish most",
            {"pick": partial(highest, column="separation")},
        ),
        monotone=True,
    ),
    Measure(
        "keys",
        f"{KEYS} by which every record is unique, or a share_unique of them",
        "quasi_identifiers",
        "sets",
        "count",
        extra=(
            Parameter("share_unique", AT_LEAST, 1.0),
            Parameter("max_sets", MAX_SETS, 1_000_000),
        ),
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
        extra=(Parameter("k", LEAST_SHARED, 5),),
        pick=sum_combinations,
    ),
    *_measures(
        "journalist_risk",
        (
            "journalist_highest_risk",
            "chance to be right about the most exposed person, found in the population table",
            {"column": "highest_risk"},
        ),
        (
            "journalist_average_risk",
            "share of people found rightly in the population table",
            {"column": "average_risk"},
        ),
        (
            "journalist_records_at_risk",
            "share of records with a risk above the threshold against the population table",
            OF_THRESHOLD | {"column": "records_at_risk"},
        ),
        unused=NO_THRESHOLD,
        monotone=True,
    ),
    *_measures(
        "pyc_forecast",
        (
            "forecast_correctness",
            "share of right matches to expect in the population",
            {"column": "correctness", "unused": ("k",)},
        ),
        (
            "forecast_uniqueness",
            "share of unique people to expect in the population",
            {"column": "uniqueness", "unused": ("k",)},
        ),
        (
            "forecast_k_violation",
            "share of people to expect in classes smaller than k in the population",
            {"column": "k_violation"},
        ),
        interval=True,
    ),
    *_measures(
        "pyc_fit",
        (
            "entropy",
            "nats of information in the quasi-identifiers (Pitman–Yor)",
            NUMBER | {"interval": True},
        ),
    ),
    *_measures(
        "population_risk",
        (
            "population_uniqueness",
            "share of the population that is unique, by the model of people or the method that is named",
            {
                "column": "uniqueness",
                "unused": ("k",),
                "extra": (METHOD_PARAMETER,),
                "older": "population_uniqueness",
            },
        ),
        (
            "population_correctness",
            "chance that a match on the quasi-identifiers is right in the population, by the model of people",
            {"column": "correctness", "unused": ("k",)},
        ),
        (
            "population_below_k",
            "share of the population in classes smaller than k, by the model of people",
            {"column": "below_k"},
        ),
        interval=True,
    ),
    *_measures(
        "qar_risk",
        (
            "qar",
            "risk that only a share alpha of all choices of p columns exceed (QaR)",
            {"column": "risk"},
        ),
        interval=True,
    ),
    *_measures(
        "adversary_summary",
        *(
            (
                f"adversary_{column}",
                f"{words} against the attacker of a scenario",
                {"column": column, **fields},
            )
            for column, words, fields in (
                ("average", "mean risk of a record", {}),
                ("median", "median risk of a record", {}),
                ("highest", "highest risk of a record", {}),
                (
                    "records_at_risk",
                    "share of records with a risk above the threshold",
                    OF_THRESHOLD | {"unused": ESTIMATES},
                ),
            )
        ),
        extra=(ATTACK,),
        row_by=("measure", "risk"),
        unused=(*ESTIMATES, *NO_THRESHOLD),
    ),
)
# What a check calls the threshold of a measure that is one of several outputs, and its default.
OWN_THRESHOLDS: Final[Mapping[str, tuple[str, Number, float]]] = {
    "alpha_k_anonymity": ("alpha", *THRESHOLDS["alpha_k_anonymity"]),
    "beta_likeness": ("beta", *THRESHOLDS["beta_likeness"]),
    "delta_disclosure": ("delta", *THRESHOLDS["delta_disclosure"]),
}


def _name_threshold(measure: str) -> dict[str, Any]:
    if measure not in OWN_THRESHOLDS:
        return {}
    name, domain, default = OWN_THRESHOLDS[measure]
    return {"extra": (Parameter(name, domain, default),), "renamed": (("threshold", name),)}


_SENSITIVE: Final = tuple(
    measure
    for name, words, fields in (
        (
            "l_diversity",
            "sensitive values in the poorest class",
            NUMBER | {"at_least": True, "unused": ("l",)},
        ),
        (
            "t_closeness",
            "distance of a class's sensitive values from the table's",
            {"relative": "distance", "unused": ("t",)},
        ),
        (
            "alpha_k_anonymity",
            "share of the most frequent sensitive value in a class",
            {"unused": ("threshold", "k"), "function": "attribute_disclosure"},
        ),
        (
            "beta_likeness",
            "gain in the share of a sensitive value in a class, relative to the table",
            NUMBER | GAIN | {"relative": "gain", "function": "attribute_disclosure_beta_likeness"},
        ),
        (
            "delta_disclosure",
            "logarithm of the factor between a sensitive value's shares in a class and in the table",
            NUMBER
            | GAIN
            | {"relative": "log", "function": "attribute_disclosure_delta_disclosure"},
        ),
    )
    for measure in _measures(name, (name, words, fields), column="value", monotone=True)
)
ALL: Final = (
    *_BEFORE_SENSITIVE,
    *_SENSITIVE,
    *(
        Measure(
            f"{each.name}_offending",
            f"share of records in classes that break {each.name} at its threshold",
            each.function,
            "offending_share",
            **_name_threshold(each.name),
        )
        for each in _SENSITIVE
    ),
    *_measures(
        "score_records",
        (
            "xi_share",
            "share of records with a probability ξ above the threshold to be unique in the population",
            {"over": "uniqueness_xi > $threshold"},
        ),
        (
            "kappa_share",
            "share of records on which a match is right with a probability κ above the threshold",
            {"over": "correctness_kappa > $threshold"},
        ),
        column="share",
        extra=COPULA_PARAMETERS,
    ),
    *_measures(
        "unicity",
        (
            "sparse_correctness",
            "share of people distinguished by a few of their items, in the whole table",
            {"column": "correctness", "extra": (Parameter("points", POINTS, 2),)},
        ),
        (
            "unicity",
            "share of people whom a few known rows of theirs single out",
            {"column": "uniqueness"},
        ),
        (
            "unicity_correctness",
            "chance that an attacker who knows a few rows of a person names the right one",
            {"column": "correctness"},
        ),
        (
            "population_unicity",
            "share of a population of which the people are some, whom a few known rows single out",
            {"column": "population_uniqueness", "unused": ()},
        ),
        interval=True,
        extra=(Parameter("points", POINTS, 4),),
        unused=("population",),
    ),
    *_measures(
        "household_risk",
        (
            "household_average_risk",
            "mean over people of the chance that a member of their household is identified",
            {"column": "average_risk"},
        ),
        (
            "household_highest_risk",
            "highest chance that a member of a household is identified",
            {"column": "highest_risk"},
        ),
        ("households_at_risk", "share of households with a risk above the threshold", OF_THRESHOLD),
        (
            "household_uniqueness",
            "share of households whose members' values no other household has",
            {"column": "uniqueness"},
        ),
        unused=NO_THRESHOLD,
    ),
    # What a synthetic table gives away of the people it was made from, in excess of people who were not used.
    *_measures(
        "audit_synthetic",
        *(
            (name, words, {"pick": partial(strongest, attacks=attacks), "unused": unused})
            for name, words, attacks, unused in (
                (
                    "replicated_uniques",
                    "excess share of unique people whose values are in the synthetic table once",
                    ("replicated_uniques",),
                    ("sensitive",),
                ),
                (
                    "disclosive_correct",
                    "excess share of people whose sensitive value their synthetic class gives away",
                    ("disclosive_correct",),
                    (),
                ),
                (
                    "singling_out",
                    "excess share of predicates from the synthetic table that single out one person",
                    ("singling_out_univariate", "singling_out_multivariate"),
                    ("sensitive",),
                ),
                (
                    "linkability",
                    "excess share of people whose two halves are linked",
                    ("linkability",),
                    ("sensitive",),
                ),
                (
                    "attribute_inference",
                    "excess share of right guesses of a column, also if unsure attackers abstain, at worst",
                    ("inference", *ABSTAINING),
                    ("sensitive",),
                ),
                (
                    "membership_advantage",
                    "excess of an attack on who is among the people it was made from, at worst",
                    MEMBERSHIP,
                    ("sensitive",),
                ),
            )
        ),
        column="excess",
        interval=True,
    ),
    # The same of a table that is released as it is, in excess of what it reveals without a person's record.
    *_measures(
        "inference_risk",
        (
            "own_record_inference",
            "excess share of people whose sensitive value is inferred because of their own record",
            {"column": "excess"},
        ),
        interval=True,
        unused=("holdout",),
    ),
    # What a table of aggregates gives away: of one that is counted, and of published ones together.
    *_measures(
        "safe_table",
        (
            "cells_below_k",
            "cells of a table by the quasi-identifiers, or its totals, with fewer than k people",
            {
                "pick": partial(count_rules, rules=(FEW_PEOPLE,)),
                "unused": ("value", "p_percent", *SUPPRESSING),
            },
        ),
        (
            "dominated_cells",
            "cells in which the largest contributors to a value can be estimated",
            {
                "pick": partial(count_rules, rules=(DOMINANCE, P_PERCENT)),
                "unused": ("k", *SUPPRESSING),
                "extra": (
                    Parameter("value", Column("value")),
                    Parameter("dominance", DOMINANCE_RULE, [1.0, 0.5]),
                ),
            },
        ),
        column="cells",
        unit="count",
        cells=people_of_cells,
    ),
    *_measures(
        "audit_tables",
        (
            "published_below_k",
            "cells of published tables that show fewer than k people",
            # what hidden counts may be changes no count that is shown
            {
                "pick": partial(count_cells, column="finding", words=(PUBLISHED,)),
                "unused": (*OF_SUMS, "lowest", "highest", "within", "rule"),
            },
        ),
        (
            "recoverable_cells",
            "hidden cells of published tables, and groups between them, that are known, or known below k",
            {"pick": partial(count_cells, column="finding", words=(RECOVERED, BELOW_K))},
        ),
        (
            "recovered_by_difference",
            "the same, where it takes several of the tables",
            {"pick": partial(count_cells, column="revealed_by", words=(SEVERAL_TABLES,))},
        ),
        column="cells",
        unit="count",
        unused=OF_SUMS,
        extra=(Parameter("columns", ORDERED, None),),  # those of categories
        cells=people_of_revealed,
    ),
    # Who can be followed from the release before this one.
    Measure(
        "people_followed",
        "people who are the only one of their kind, or within a tolerance, in the former release and in this one",
        "compare_releases",
        "value",
        "count",
        unused=("sensitive", "more"),
        pick=partial(largest_of, names=("followed", "followed_within")),
        of_uniques=True,
    ),
    # Whom another table of the same people singles out.
    Measure(
        "people_singled_out_by_join",
        "people in a class of fewer than k people in a join, and in neither of its tables alone",
        "join_risk",
        "singled_out",
        "count",
        pick=whole_join,
    ),
)
MEASURES: Final = {measure.name: measure for measure in ALL}
