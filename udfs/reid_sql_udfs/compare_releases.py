"""Comparison of two releases of one table."""

from reid_sql.function import Answer, table_function
from reid_sql.models.comparison import repeated_releases
from reid_sql.models.comparison.repeated_releases import ReleaseClasses, ReleaseFigure
from reid_sql.reductions.releases import RELEASE_CLASSES


@table_function(
    "first, second, qi, key, entity, sensitive, nulls",
    answer=Answer.ROWS,
    reduction=RELEASE_CLASSES,
    source="Fung, Wang, Fu & Pei 2008 (forward, cross and backward attack); Xiao & Tao 2007 (m-invariance)",
)
def compare_releases(lines: ReleaseClasses) -> list[ReleaseFigure]:
    """Compare two releases of one table: who can be followed, who entered or left, and what both give away.

    One row a figure, with its definition. A class is the people of a release with the same values on `qi`.
    `followed` are alone in their class in both releases: an attacker links their two records. If the size of
    a class changed by one, a person is known to have entered or left; with `sensitive`, so is their value, if
    the class gained or lost one value alone. The attacks of Fung et al. exclude records of a person's class
    that the other release shows to be somebody else's; the anonymities are the fewest records that are left.
    m-invariance (Xiao & Tao) needs all sensitive values of a class to differ, and a person's classes to have
    the same ones in both releases. `key` is a column of both releases that identifies people, which only the
    data holder has: with it, links are known to be right or wrong, and people who moved to another class are
    paired. `entity` is the same where people have several rows: people are counted. Without either, people
    are assumed to stay in their class, and what needs them is NULL. If no class is in both releases, their
    columns may be generalized differently: then nothing is compared, and the status is `not_comparable`.
    NULL is a value of its own; with nulls := 'drop' records that lack one are left out of both. Refuses empty
    tables and a key that repeats. One row per person is assumed, unless `entity` identifies people.

    >>> import numpy as np
    >>> one, no = np.array([1]), np.array([0])
    >>> person = ReleaseClasses(no, one, one, one, *[no] * 11, one, one, no)
    >>> next(row.value for row in compare_releases(person) if row.figure == "followed")
    1.0
    """
    return repeated_releases.compare_releases(lines)
