"""The size of a population that a sample was drawn from: at least that of the sample."""

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import COUNT, plain


def population_size(population: float, records: int, words: str = "records of the sample") -> float:
    """Give the population as a number of people; refuses one that is smaller than the sample.

    >>> population_size(1000, 50)
    1000.0
    """
    people = float(COUNT.check("population", population))
    if people < records:
        rule = f"population must be at least the {records} {words}, got {plain(people)}"
        raise OutOfDomainError(f"{rule}; pass the size of the population that the sample was drawn from")
    return people
