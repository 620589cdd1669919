"""ξ of a person by number and choice of attributes."""

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.population import subset_uniqueness as model_of
from reid_sql.models.population.subset_uniqueness import Level, ProfileRow
from reid_sql.parameters import Count, Model, RecordValues, SubsetSize


@table_function(
    "model, values, population, max_size, level",
    answer=Answer.ROWS,
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, figure 3 and eq. 17 to 19; Chow & Liu 1968",
    models=True,
)
def uniqueness_profile(
    model: Model,
    values: RecordValues,
    population: Count,
    max_size: SubsetSize = 3,
    level: Level = 0.95,
) -> list[ProfileRow]:
    """Measure how unique a person is by each choice of attributes, what each adds, and which suffice.

    `values` are the person's, as texts in the model's order; NULL is a value. A row `known` is a choice of up
    to `max_size` attributes, or all of them, with its q(x), ξ and κ under that part of the fitted model. A
    row `impact` has the scores without one attribute, and the amount by which this lowers ξ. The row
    `smallest` has the fewest attributes for which ξ reaches `level`; if there are none, its status reports
    this. The status of the other rows names attributes whose value the sample does not contain. Of a model of
    people the residual of fewer columns follows its law (as in fit_people). ξ and κ never fall with one more
    attribute: those of a choice are at least those of each choice within it. Refuses more than 1,024 choices,
    other numbers of values, and a model that is not known:

    >>> with registry.within("a database without models"):
    ...     uniqueness_profile("nowhere", ["F"], 1000)
    Traceback (most recent call last):
    reid_sql.errors.UnknownNameError: model must be a fitted model, got 'nowhere'; there are no models
    """
    people = float(population)  # type: ignore[arg-type]
    return model_of.profile(registry.known(model), values, people, int(max_size), float(level))
