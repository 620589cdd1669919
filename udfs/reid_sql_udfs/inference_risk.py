"""What an attacker who abstains infers from a released table."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.comparison.linkage import Targets
from reid_sql.models.synthetic import released_inference
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.models.synthetic.released_inference import InferenceRisk, MinPrecision
from reid_sql.parameters import Seed, SubsetSize
from reid_sql.reductions.synthetic import INFERENCE_TABLES


@table_function(
    "tbl, qi, sensitive, max_size, min_precision, holdout, targets, seed, entity",
    answer=Answer.ROWS,
    reduction=INFERENCE_TABLES,
    question=Question.DISCLOSURE,
    source="Francis & Wagner 2025 (abstention); Giomi et al. 2023 (control, risk); Newcombe 1998",
)
def inference_risk(
    tables: AuditedTables,
    max_size: SubsetSize = 3,
    min_precision: MinPrecision = 0.95,
    targets: Targets = 10_000,
    seed: Seed = 0,
) -> list[InferenceRisk]:
    """Infer a sensitive value from every set of known columns, by an attacker who abstains where unsure.

    The attacker knows some columns of a person. She attacks if at least `min_share`, and more than half, of
    at least `min_people` people with the same values have the same sensitive value. Each set of up to
    `max_size` known columns has a row, and all together. The worst sensitive column, and the columns with the
    highest recall at `min_precision`, come first (`rank` 1).

    Rule and rank are chosen on one half of the people, and all figures are measured on the other half, with
    95 % intervals. These hold for rank 1; of many rows, the most striking one is too good. The baseline is
    the best attack by any of the sets (`baseline_columns`), or by a guess, after the person's own record has
    been taken out of the table; with `holdout`, people of the same kind who are not in the table, it is the
    best attack on them. It must be more precise than halfway from a guess of the most frequent value to
    `min_precision`. `excess` is what own records give away: the recall of an attacker who uses the baseline's
    columns where she abstains, less `baseline_recall`. A high recall without an excess follows from other
    people's records: a class that shares a diagnosis.

    About `targets` records are attacked; all records of the table are counted. NULL is a value of its own. A
    number with more than 20 values is inferred as one of 20 ranges of equal rank. One row per person is
    assumed; with `entity`, people are counted, and an attack is right about a person if it is right about one
    of their rows. Refuses an empty table and more than 10,000 sets.

    >>> import numpy as np
    >>> four = np.full(4, 4)
    >>> codes = np.array([[1, 1, 2, 3], [1, 2, 1, 1]])
    >>> tables = AuditedTables(["a", "x"], [False, True], [False] * 2, codes, four, four, 0 * four, [False])
    >>> risk = inference_risk(tables)[0]
    >>> risk.columns, risk.recall, risk.baseline_recall
    (['a'], 0.5, 0.5)
    """
    return released_inference.measure_inference(
        tables, int(max_size), float(min_precision), int(targets), int(seed)
    )
