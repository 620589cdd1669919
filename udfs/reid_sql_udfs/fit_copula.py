"""A Gaussian copula of a table, stored under a name."""

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.copula import copula_fit
from reid_sql.models.copula.copula_file import ModelSummary, summarize_copula
from reid_sql.models.copula.gaussian_copula import Method
from reid_sql.models.evidence import EvidenceRows
from reid_sql.parameters import Names, NewModel, Seed
from reid_sql.reductions.evidence import PAIRS


@table_function(
    "name, tbl, qi, weight, marginals, ordered, method, seed, nulls, entity",
    answer=Answer.ROW,
    reduction=PAIRS,
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019",
    models=True,
    one_row_per_person=True,
    reasons={"by": "its name is that of one model"},
)
def fit_copula(
    rows: EvidenceRows,
    name: NewModel,
    ordered: Names = None,
    method: Method = "paper",
    seed: Seed = 0,
) -> ModelSummary:
    """Fit the Gaussian copula of a sample's columns; uniqueness_xi and correctness_kappa take its name.

    Columns count as categories without an order, integers and dates too, unless `ordered` names them: numbers
    are then in order of size, other values in order of their text. `weight` is a column of survey weights.
    `marginals` is a table of shares from outside, such as a census: column_name, value and share (or a
    count). `method := 'calibrated'` lets records repeat as often as in the sample; 'sharp' also orders the
    other columns by the data. A model of the same name is replaced. Refuses fewer than two records, and
    weights that are missing or below 0.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> fit_copula(rows_from_columns({"sex": ["F", "F", "M"]}), "town").records
    3
    """
    model = copula_fit.fit_copula(rows, ordered or (), method, int(seed))
    registry.keep(name, model)
    return summarize_copula(name, model)
