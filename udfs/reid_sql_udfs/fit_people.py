"""A model of the people of a table, known by its name from then on."""

from dataclasses import replace

from reid_sql import registry
from reid_sql.function import Answer, table_function
from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.marginals.record_cells import refuse_one_record
from reid_sql.models.people.diagnostics import PeopleSummary, diagnose, summarize
from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.people.fit import fit
from reid_sql.parameters import Names, NewModel, Seed
from reid_sql.reductions.evidence import PEOPLE


@table_function(
    "name, tbl, qi, weight, marginals, ordered, nominal, seed, nulls, entity",
    answer=Answer.ROW,
    reduction=PEOPLE,
    source="Chow & Liu 1968; Aitchison & Aitken 1976; Skinner & Shlomo 2008; Yao et al. 2018",
    models=True,
    one_row_per_person=True,
    reasons={"by": "its name is that of one model"},
)
def fit_people(
    rows: EvidenceRows, name: NewModel, ordered: Names = None, nominal: Names = None, seed: Seed = 0
) -> PeopleSummary:
    """Fit the most accurate model here of a sample's people; uniqueness_xi and the others then know it.

    They know it by its name. A tree of pairs of columns and records as donors give each cell's probability;
    real cells scatter around it as far as the sample's repeats tell. Columns of numbers, dates and moments
    have an order, unless `nominal` names them; `ordered` names others. `weight` is a column of survey
    weights, `marginals` a table of what is known from outside: column_name, value and share; with either, the
    tree stands alone. In memory the model holds up to 1,000 donors, which are records of the sample;
    copula_json keeps none. Columns that follow from others are tied to them: beside its postal code a city
    adds nothing, and without it says which codes there may be. `status` names them, three columns that tell
    more together than pairs do, and class sizes that the model does not foretell. A model of the same name is
    replaced. Refuses fewer than two records, and weights that are missing or below 0.
    With `entity`, the column that tells people apart (NULL is one person), the sample is of people: a class
    counts its people, and an attacker knows one row of each, that of their smallest class; else one row per
    person is assumed.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> fit_people(rows_from_columns({"sex": ["F", "F", "M", "M"]}), "town").records
    4
    """
    evidence = evidence_from_rows(rows, ordered or (), nominal or ())
    refuse_one_record(evidence.records)
    fitted = fit(evidence, int(seed))
    diagnostics = diagnose(fitted, evidence)
    model = replace(fitted, notes=tuple(diagnostics.describe(fitted.columns)))
    registry.keep(name, model)
    return summarize(name, model, diagnostics)
