"""Comparison of two releases of one table."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.comparison import repeated_releases
from reid_sql.models.comparison.release_classes import ReleaseClasses
from reid_sql.models.comparison.repeated_releases import ReleaseFigure
from reid_sql.reductions.releases import RELEASE_CLASSES


@table_function(
    "first, second, qi, key, entity, sensitive, nulls, tolerance, more",
    answer=Answer.ROWS,
    reduction=RELEASE_CLASSES,
    question=Question.RELEASES,
    source="Fung, Wang, Fu & Pei 2008 (forward, cross and backward attack); Xiao & Tao 2007 (m-invariance)",
)
def compare_releases(lines: ReleaseClasses) -> list[ReleaseFigure]:
    """Compare two releases of one table: who can be followed, who entered or left, and what both reveal.

    A class is the people of a release with the same values on `qi`. `followed` counts people who are alone in
    their class in both releases: an attacker links their two records. If the size of a class changed by one,
    a person is known to have entered or left. With `sensitive`, their value is known, too, if the class
    gained or lost only one value.

    docs/repeated_releases.md defines the attacks of Fung et al., whose anonymities are the fewest remaining
    records, and m-invariance (Xiao & Tao).

    `key` is a column of both releases that identifies people, and that only the data holder has. With it, the
    function counts which links are right, and follows people who moved to another class. `entity` is the same
    for people with several rows. Without either, it assumes that people stay in their class, and figures that
    need a key are NULL. If no class is in both releases, nothing is compared, and the status is
    `not_comparable`.

    With `tolerance`, as in risk_summary, `followed_within` counts people whom an attacker follows although
    their values changed by no more: of each other's candidates, they are the only ones. Figures of classes
    stay those of equal values. It needs tables with a row a person.

    `more` is a list of further releases. With it and a key, or entity, `unique_by_all` counts the people who
    are the only ones with their values in all releases together, where absence is a value, too. Other figures
    are those of `first` and `second`.

    `nulls := 'drop'` leaves records with a NULL out of all releases. Refuses empty tables and a key that
    repeats. One row per person is assumed, unless `entity` identifies people.

    >>> import numpy as np
    >>> one, no = np.array([1]), np.array([0])
    >>> person = ReleaseClasses(no, one, one, one, *[no] * 12, one, one, no)
    >>> next(row.value for row in compare_releases(person) if row.figure == "followed")
    1.0
    """
    return repeated_releases.compare_releases(lines)
