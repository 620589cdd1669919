"""Risk against an attacker who knows part of what can be known, over all records."""

from reid_sql.engines import registry
from reid_sql.function import NO_HOUSEHOLD, Answer, Question, table_function
from reid_sql.models.attacker import adversary_summary as summaries
from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.models.attacker.adversary_summary import AdversarySetting, AdversarySummary, Levels
from reid_sql.models.attacker.knowledge import Seed, Trials
from reid_sql.models.fitted_model import OptionalModel
from reid_sql.parameters import NullPolicy, Threshold
from reid_sql.parameters.outputs import Output
from reid_sql.reductions.known import KNOWN_RECORDS
from reid_sql.scenarios import ScenarioText


@table_function(
    "tbl, scenario, threshold, trials, seed, nulls, population_tbl, model, entity, tolerance",
    answer=Answer.ROWS,
    reduction=KNOWN_RECORDS,
    models=True,
    question=Question.ATTACKERS,
    source="Xia et al. 2021, Table 3",
    overlapping_classes=True,
    reasons=NO_HOUSEHOLD,
    output=Output("output", ("risks",)),
)
def adversary_summary(
    known: KnownRecords,
    scenario: ScenarioText,
    threshold: Threshold = 0.2,
    nulls: NullPolicy = "value",
    *,
    trials: Trials = 10_000,
    seed: Seed = 0,
    model: OptionalModel = None,
) -> list[AdversarySummary]:
    """Summarise the four risks, for the attacker of a scenario and for one who knows everything.

    The worst case is an attacker who knows all columns. The reduction is 1 − risk/worst; its quartiles are
    over the `records_compared` that are at risk in the worst case. `standard_error` is the largest of all
    records.

    `output := 'sensitivity'` varies the scenario's probabilities. Refuses what `adversary_risk` refuses, and
    takes the same `population_tbl` and `model`. One row per person is assumed; with `entity`, people are
    counted, and people whose rows differ in the scenario's columns are refused.

    >>> import numpy as np
    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> half = '{"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}'
    >>> adversary_summary(people, half)[0].reduction_median
    0.5
    """
    return summaries.summarize_adversary(
        known, scenario, threshold, nulls, trials=trials, seed=seed, model=registry.optional(model)
    )


@table_function(
    "tbl, scenario, levels, trials, seed, nulls, population_tbl, model, entity, tolerance",
    answer=Answer.ROWS,
    reduction=KNOWN_RECORDS,
    models=True,
    question=Question.ATTACKERS,
    source="Xia et al. 2021, Table 4",
    overlapping_classes=True,
    reasons=NO_HOUSEHOLD,
    output=Output("output", ("sensitivity",), of="adversary_summary"),
)
def adversary_sensitivity(
    known: KnownRecords,
    scenario: ScenarioText,
    levels: Levels = None,
    nulls: NullPolicy = "value",
    *,
    trials: Trials = 10_000,
    seed: Seed = 0,
    model: OptionalModel = None,
) -> list[AdversarySetting]:
    """Overall risk for every setting of a scenario's four parameters, 81 of them, in one pass.

    Each parameter takes each of the `levels` (0.2, 0.5 and 0.8 by default, at most six); the scenario's own
    values are not used. The answer has quartiles of the risk over the records, and of its reduction compared
    with the worst case under the same setting. `population_tbl`, `model` and `entity` are as above.

    >>> import numpy as np
    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> half = '{"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}'
    >>> len(adversary_sensitivity(people, half))
    81
    """
    return summaries.summarize_settings(
        known, scenario, levels, nulls, trials=trials, seed=seed, model=registry.optional(model)
    )
