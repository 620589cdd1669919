"""A model of the people of a table, stored under a name."""

from dataclasses import replace

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.fitted_model import Doubt
from reid_sql.models.marginals.column import refuse_one_record
from reid_sql.models.people.diagnostics import PeopleSummary, diagnose, summarize
from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.people.fit import fit
from reid_sql.models.people.functional_dependencies import describe_dependencies
from reid_sql.models.population_risk.doubts import find_doubts
from reid_sql.parameters import Names, NewModel, Seed
from reid_sql.reductions.evidence import PEOPLE


@table_function(
    "name, tbl, qi, weight, marginals, ordered, nominal, seed, nulls, entity",
    answer=Answer.ROW,
    reduction=PEOPLE,
    question=Question.MODEL_SCORES,
    source="Chow & Liu 1968; Skinner & Shlomo 2008; Yao et al. 2018",
    models=True,
    one_row_per_person=True,
    reasons={"by": "its name is that of one model"},
)
def fit_people(
    rows: EvidenceRows, name: NewModel, ordered: Names = None, nominal: Names = None, seed: Seed = 0
) -> PeopleSummary:
    """Fit the model of people, the most accurate here; uniqueness_xi and other functions take its name.

    A tree of pairs of columns gives the probability of each combination of values, with latent classes for
    lists of yes/no columns. The sample's repeated records show how far real counts vary around it.
    Columns of numbers, dates and times have an order, unless `nominal` names them; `ordered` names
    further ones. `weight` is a column of survey weights. `marginals` is a table of known shares, with
    column_name, value and share. With either, only the tree is fitted.

    The model contains no record of the sample. `status` names columns that others determine, such as a city
    next to its postal code, and three columns that depend on each other more than their pairs show, and
    reports class sizes that the model does not predict. A model of the same name is replaced. Refuses fewer
    than two records, and weights that are missing or below 0.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> fit_people(rows_from_columns({"sex": ["F", "F", "M", "M"]}), "town").records
    4
    """
    evidence = evidence_from_rows(rows, ordered or (), nominal or ())
    refuse_one_record(evidence.records)
    fitted = fit(evidence, int(seed))
    diagnostics = diagnose(fitted, evidence)
    missed = [Doubt(status) for status in diagnostics.describe(fitted.columns)]
    model = replace(
        fitted,
        notes=tuple(describe_dependencies(diagnostics.dependencies, fitted.columns)),
        doubts=(*find_doubts(fitted, evidence), *missed),
    )
    registry.keep(name, model)
    return summarize(name, model, diagnostics)
