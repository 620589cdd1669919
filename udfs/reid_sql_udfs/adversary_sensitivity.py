"""How the risk against an attacker hangs on what is assumed of them."""

from reid_sql.engines import registry
from reid_sql.function import NO_HOUSEHOLD, Answer, Question, table_function
from reid_sql.models.attacker import adversary_summary as summaries
from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.models.attacker.adversary_summary import AdversarySetting, Levels
from reid_sql.models.attacker.knowledge import Seed, Trials
from reid_sql.models.fitted_model import OptionalModel
from reid_sql.parameters import NullPolicy
from reid_sql.reductions.known import KNOWN_RECORDS
from reid_sql.scenarios import ScenarioText


@table_function(
    "tbl, scenario, levels, trials, seed, nulls, population_tbl, model, entity, tolerance",
    answer=Answer.ROWS,
    reduction=KNOWN_RECORDS,
    models=True,
    question=Question.ATTACKERS,
    source="Xia et al. 2021, Table 4",
    overlapping_classes=True,
    reasons=NO_HOUSEHOLD,
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
    with the worst case under the same setting. `population_tbl` and `model` as in `adversary_risk`. One row
    per person is assumed; with `entity`, the column that identifies people, people are counted (NULL is
    refused); people whose values in the scenario's columns differ between their rows are refused.

    >>> import numpy as np
    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> half = '{"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}'
    >>> len(adversary_sensitivity(people, half))
    81
    """
    return summaries.summarize_settings(
        known, scenario, levels, nulls, trials=trials, seed=seed, model=registry.optional(model)
    )
