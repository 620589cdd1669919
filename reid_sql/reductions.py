"""The relational reductions: everything the engine counts, and all that a model ever sees of a table."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

from reid_sql.domains import (
    COLUMNS,
    COMBINATIONS,
    COUNT,
    MODEL,
    NULLS,
    OPTIONAL_TABLE,
    PERSON_OR_ITEM,
    POINTS,
    PROBABILITY,
    QUASI_IDENTIFIERS,
    RECORD_KEY,
    SAMPLES,
    SEED,
    SUBSET_SIZE,
    TABLE,
    VALUE_OR_DROP,
    WEIGHT,
    Columns,
    Domain,
    Key,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.models.attacker.scenario import SCENARIO
from reid_sql.models.classes import sensitive
from reid_sql.models.classes.disclosure import Histogram, PopulationHistogram, SubsetCounts
from reid_sql.models.classes.sparse_matching import Matches
from reid_sql.models.copula.copula_file import SavedModels
from reid_sql.models.copula.correction import ScoredClasses
from reid_sql.models.copula.gaussian_copula import PairCounts
from reid_sql.models.extreme.quasi_identifiers import Codes
from reid_sql.models.population.individual_risk import WeightedRecords
from reid_sql.models.population.loglinear import INTERACTIONS, FittedRecords
from reid_sql.models.population.population_uniqueness import METHOD, UniquenessEvidence


@dataclass(frozen=True)
class Argument:
    """A parameter of a reduction; one without a default must be given, unless it is optional and NULL."""

    name: str
    domain: Domain
    default: str | float | None = None
    optional: bool = False


@dataclass(frozen=True)
class Reduction:
    """What an engine counts: its name, its arguments, its columns with their SQL types, and the arrays a model gets.

    Every reduction of a table also tells how NULLs were treated, in the columns of `HOW_NULLS`.
    """

    name: str
    words: str
    arguments: tuple[Argument, ...]
    columns: dict[str, str]
    arrays: type | None = None
    rowwise: bool = False  # whether each of its rows is a table of its own, with NULLs of its own
    whole: bool = False  # whether it is one row, of whole columns as lists

    @property
    def inputs(self) -> dict[str, str]:
        """The columns that a body gets as arrays, with their SQL types."""
        wanted = fields(self.arrays) if self.arrays else ()
        return {field.name: (self.columns | HOW_NULLS)[field.name] for field in wanted}

    @property
    def keyed(self) -> bool:
        """Whether its `keys` stand for the numbers in the answer's column `record`."""
        return self.whole and any(isinstance(argument.domain, Key) for argument in self.arguments)


MAX_SUBSETS: Final = 5000
HOW_NULLS: Final = {"records_dropped": "BIGINT", "nulls": "VARCHAR"}

_TABLE: Final = Argument("tbl", TABLE)
_QI: Final = Argument("qi", QUASI_IDENTIFIERS)
_NULLS: Final = Argument("nulls", NULLS, "value")

CLASS_SIZE: Final = Reduction(
    name="class_size",
    words="for each record, how many records share its values",
    arguments=(),
    columns={"class_size": "BIGINT"},
)
CLASSES: Final = Reduction(
    name="classes",
    words="the distinct combinations of values, with how many records share each",
    arguments=(_TABLE, _QI, _NULLS),
    columns={"class_size": "BIGINT", "records": "BIGINT"},
)
HISTOGRAM: Final = Reduction(
    name="histogram",
    words="how many classes, and how many records, have each class size",
    arguments=(_TABLE, _QI, _NULLS),
    columns={"class_size": "BIGINT", "classes": "BIGINT", "records": "BIGINT"},
    arrays=Histogram,
)
POPULATION_HISTOGRAM: Final = Reduction(
    name="population_histogram",
    words="the histogram of the sample's records by the size of their class in the population",
    arguments=(_TABLE, Argument("population_tbl", TABLE), _QI, _NULLS),
    columns={"class_size": "BIGINT", "classes": "BIGINT", "records": "BIGINT", "uncovered": "BIGINT"},
    arrays=PopulationHistogram,
)
SUBSETS: Final = Reduction(
    name="subsets",
    words="for every subset of the columns, its classes and its pairs of records that are alike",
    arguments=(_TABLE, Argument("columns", COLUMNS), Argument("max_size", SUBSET_SIZE, 3), _NULLS),
    columns={"subset": "VARCHAR[]", "records": "BIGINT", "classes": "BIGINT", "pairs_alike": "HUGEINT"},
    arrays=SubsetCounts,
    rowwise=True,
)
MATCHES: Final = Reduction(
    name="matches",
    words="of how many people the sets hold what an attacker knows of a target, with the weight of such targets",
    arguments=(
        _TABLE,
        Argument("person", PERSON_OR_ITEM),
        Argument("item", PERSON_OR_ITEM),
        Argument("points", POINTS, 2),
        Argument("exact_up_to", COMBINATIONS, 1_000_000),
        Argument("samples", SAMPLES, 10_000),
        Argument("seed", SEED, 0),
        Argument("nulls", VALUE_OR_DROP, "value"),
    ),
    columns={"matches": "BIGINT", "weight": "DOUBLE", "people": "BIGINT", "draws": "BIGINT"},
    arrays=Matches,
)
PAIRS: Final = Reduction(
    name="pairs",
    words="how often each value of each column occurs, and each pair of values of two columns",
    arguments=(
        _TABLE,
        _QI,
        Argument("weight", WEIGHT, optional=True),
        Argument("marginals", OPTIONAL_TABLE, optional=True),
        Argument("nulls", VALUE_OR_DROP, "value"),
    ),
    columns={
        "cell": "BIGINT",
        "first": "BIGINT",
        "second": "BIGINT",
        "label": "VARCHAR",
        "first_value": "VARCHAR",
        "second_value": "VARCHAR",
        "records": "BIGINT",
        "mass": "DOUBLE",
    },
    arrays=PairCounts,
)
SAVED: Final = Reduction(
    name="saved",
    words="the models in a table that copula_json wrote",
    arguments=(_TABLE,),
    columns={"line": "BIGINT", "model": "VARCHAR", "json": "VARCHAR"},
    arrays=SavedModels,
)
_CODED: Final = {"names": "VARCHAR[]", "ordinal": "BOOLEAN[]", "codes": "INTEGER[][]", "position": "BIGINT[]"}
_COLUMNS: Final = Argument("columns", COLUMNS)
_KEPT: Final = Argument("nulls", VALUE_OR_DROP, "value")
CODES: Final = Reduction(
    name="codes",
    words="each column as codes, one small number for each of its values",
    arguments=(_TABLE, _COLUMNS, _KEPT),
    columns=_CODED,
    arrays=Codes,
    whole=True,
)
RECORD_CODES: Final = Reduction(
    name="record_codes",
    words="each column as codes, with the key of each record, else its place in the scan",
    arguments=(_TABLE, _COLUMNS, Argument("key", RECORD_KEY, optional=True), _KEPT),
    columns=_CODED,
    arrays=Codes,
    whole=True,
)
SCORED_CLASSES: Final = Reduction(
    name="scored_classes",
    words="the distinct records on a model's columns, with their numbers of records and their scores",
    arguments=(_TABLE, Argument("model", MODEL), Argument("population", COUNT)),
    columns={"place": "BIGINT", "class_size": "BIGINT", "uniqueness_xi": "DOUBLE"},
    arrays=ScoredClasses,
)
SCENARIO_COLUMNS: Final = Columns("columns of the scenario")
KEYED_COLUMNS: Final = Columns("columns of the scenario, and key,")
KNOWN_RECORDS: Final = Reduction(
    name="known_records",
    words="the distinct records on a scenario's columns, as codes, with how many and which records hold each",
    arguments=(_TABLE, Argument("scenario", SCENARIO), Argument("key", RECORD_KEY, optional=True), _NULLS),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "codes": "BIGINT[]",
        "texts": "VARCHAR[]",
        "members": "BIGINT[]",
    },
    arrays=KnownRecords,
)
EVIDENCE: Final = Reduction(
    name="evidence",
    words="how many classes have each size, and each logarithm of the count that independent columns would hold, to a thousandth",
    arguments=(
        _TABLE,
        _QI,
        Argument("method", METHOD, "all"),
        _KEPT,
    ),
    columns={
        "place": "BIGINT",
        "class_size": "BIGINT",
        "log_expected": "DOUBLE",
        "classes": "BIGINT",
        **{name: kind for name, kind in PAIRS.columns.items() if name != "cell"},
    },
    arrays=UniquenessEvidence,
)
KEYED_QI: Final = Columns("quasi-identifiers, weight and key")
_KEY: Final = Argument("key", RECORD_KEY, optional=True)
FITTED_RECORDS: Final = Reduction(
    name="fitted_records",
    words="the distinct records, with how many hold each and how many would if the columns were independent",
    arguments=(_TABLE, _QI, Argument("interactions", INTERACTIONS, 0), _KEY, _KEPT),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "log_expected": "DOUBLE",
        "codes": "BIGINT[]",
        "members": "BIGINT[]",
    },
    arrays=FittedRecords,
)
WEIGHTED_RECORDS: Final = Reduction(
    name="weighted_records",
    words="the distinct records, with how many hold each and the sum of their weights",
    arguments=(
        _TABLE,
        _QI,
        Argument("weight", Key(), optional=True),
        _KEY,
        _KEPT,
    ),
    columns={"place": "BIGINT", "records": "BIGINT", "mass": "DOUBLE", "members": "BIGINT[]"},
    arrays=WeightedRecords,
)

_OF_CLASSES: Final = (_TABLE, Argument("qi", sensitive.QI), Argument("sensitive", sensitive.SENSITIVE))


def _measure(name: str, *options: Argument) -> Reduction:
    """How many classes have each size and each value of the measure; the options say which variant of it."""
    return Reduction(
        name=name,
        words="how many classes have each size and each value of the measure",
        arguments=(*_OF_CLASSES, *options, _KEPT),
        columns={"class_size": "BIGINT", "value": "DOUBLE", "classes": "BIGINT"},
        arrays=sensitive.ClassValues,
    )


def _offending(measured: Reduction, *thresholds: Argument) -> Reduction:
    """The classes that offend the thresholds, with their values of the measure."""
    return Reduction(
        name=f"{measured.name}_classes",
        words="the classes that offend a threshold of the measure",
        arguments=(*measured.arguments[:-1], *thresholds, _KEPT),
        columns={"class_size": "BIGINT", "value": "DOUBLE"},
    )


L_DIVERSITY: Final = _measure(
    "l_diversity",
    Argument("variant", sensitive.DIVERSITIES, "distinct"),
    Argument("c", sensitive.CONCENTRATION, 3),
)
T_CLOSENESS: Final = _measure("t_closeness", Argument("variant", sensitive.DISTANCES, "equal"))
ALPHA_K_ANONYMITY: Final = _measure("alpha_k_anonymity")
BETA_LIKENESS: Final = _measure("beta_likeness", Argument("variant", sensitive.LIKENESSES, "basic"))
DELTA_DISCLOSURE: Final = _measure("delta_disclosure", Argument("variant", sensitive.PRESENCES, "present"))
L_DIVERSITY_CLASSES: Final = _offending(L_DIVERSITY, Argument("l", sensitive.DIVERSITY, 2))
T_CLOSENESS_CLASSES: Final = _offending(T_CLOSENESS, Argument("t", sensitive.CLOSENESS, 0.2))
ALPHA_K_ANONYMITY_CLASSES: Final = _offending(
    ALPHA_K_ANONYMITY, Argument("alpha", PROBABILITY, 0.5), Argument("k", sensitive.LEAST_K, 2)
)
BETA_LIKENESS_CLASSES: Final = _offending(BETA_LIKENESS, Argument("beta", sensitive.GAIN, 1))
DELTA_DISCLOSURE_CLASSES: Final = _offending(DELTA_DISCLOSURE, Argument("delta", sensitive.GAIN, 1))
OF_SENSITIVE: Final = (
    *(L_DIVERSITY, T_CLOSENESS, ALPHA_K_ANONYMITY, BETA_LIKENESS, DELTA_DISCLOSURE),
    *(
        L_DIVERSITY_CLASSES,
        T_CLOSENESS_CLASSES,
        ALPHA_K_ANONYMITY_CLASSES,
        BETA_LIKENESS_CLASSES,
        DELTA_DISCLOSURE_CLASSES,
    ),
)
REDUCTIONS: Final = (
    CLASS_SIZE,
    CLASSES,
    HISTOGRAM,
    POPULATION_HISTOGRAM,
    SUBSETS,
    MATCHES,
    PAIRS,
    SAVED,
    SCORED_CLASSES,
    KNOWN_RECORDS,
    CODES,
    RECORD_CODES,
    EVIDENCE,
    FITTED_RECORDS,
    WEIGHTED_RECORDS,
    *OF_SENSITIVE,
)


def refuse_own_names(columns: Sequence[str], own: Sequence[str] = ("class_size", "records")) -> None:
    """Refuse quasi-identifiers whose names the listing of classes needs for itself."""
    for column in columns:
        if column.lower() in {*own, *HOW_NULLS}:
            named = f"{', '.join(own)}, records_dropped or nulls"
            rule = f"quasi-identifiers must not be named {named} where classes are listed"
            raise OutOfDomainError(f"{rule}, got '{column}'; rename the column in a view")


def refuse_subsets(count: int) -> None:
    """Refuse to count more subsets of columns than a query can hold."""
    if count > MAX_SUBSETS:
        rule = f"the number of subsets of the columns must be at most {MAX_SUBSETS}, got {count}"
        raise OutOfDomainError(f"{rule}; pass fewer columns or a smaller max_size")
