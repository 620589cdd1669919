"""Risk of each record against an attacker who knows part of what can be known."""

from reid_sql.engines import registry
from reid_sql.function import NO_HOUSEHOLD, Answer, Question, table_function
from reid_sql.models.attacker import adversary
from reid_sql.models.attacker.adversary import AdversaryRisk, KnownRecords
from reid_sql.models.attacker.knowledge import Seed, Trials
from reid_sql.models.fitted_model import OptionalModel
from reid_sql.parameters import NullPolicy
from reid_sql.reductions.known import KNOWN_RECORDS
from reid_sql.scenarios import ScenarioText


@table_function(
    "tbl, scenario, trials, seed, key, nulls, population_tbl, model, entity, tolerance",
    answer=Answer.PER_RECORD,
    reduction=KNOWN_RECORDS,
    models=True,
    question=Question.ATTACKERS,
    source="Xia et al. 2021",
    overlapping_classes=True,
    reasons=NO_HOUSEHOLD,
)
def adversary_risk(
    known: KnownRecords,
    scenario: ScenarioText,
    nulls: NullPolicy = "value",
    *,
    trials: Trials = 10_000,
    seed: Seed = 0,
    model: OptionalModel = None,
) -> AdversaryRisk:
    """Prosecutor, journalist, marketer and overall risk of each record, against the attacker of a scenario.

    `scenario` is the path of a TOML or JSON file, JSON text, or the name of a shipped one. The result is
    exact up to 65,536 sets of attribute groups that the attacker may know. Beyond, `trials` sets are drawn,
    and `standard_error` is the largest of the four measures. Refuses an empty table, a population smaller
    than the table, and a scenario whose columns or values the table does not have. One row per person is
    assumed; with `entity`, `record` is the person, and people whose rows differ in the scenario's columns are
    refused. In `population_tbl`, with the scenario's columns, it is counted which records are unique in the
    population. `model`, fitted to these columns, estimates how many are; without both, Pitman's model does.

    With `tolerance`, as in risk_summary but without edits, a record matches all records within it. Estimates
    of unique people remain those of equal values.

    >>> import numpy as np
    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> half = '{"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}'
    >>> adversary_risk(people, half).marketer.tolist()
    [0.625, 0.625, 0.375]
    """
    return adversary.score_known_records(
        known, scenario, nulls, trials=trials, seed=seed, model=registry.optional(model)
    )
