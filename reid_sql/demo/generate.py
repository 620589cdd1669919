"""Make the town of people.csv: seeded, with believable marginals and dependences; nobody in it exists.

Age is even up to 75 years and thins out to 100; postcodes follow Zipf's law over 24 districts; marital
status, education and occupation depend on age; about 2 % of education and occupation are missing. Only
uniform draws of a seeded PCG64 stream are used, so that every NumPy gives the same people.

    python -m reid_sql.demo.generate reid_sql/demo/people.csv
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

SEED: Final = 20190723
PEOPLE: Final = 3000
COLUMNS: Final = (
    "age",
    "sex",
    "postcode",
    "marital_status",
    "education",
    "occupation",
    "diagnosis",
)
EDUCATION: Final = ("secondary", "vocational", "bachelor", "primary", "master", "doctorate")
OCCUPATION: Final = (
    "office",
    "trade",
    "care",
    "industry",
    "teaching",
    "transport",
    "farming",
    "research",
    "arts",
    "law",
)
DIAGNOSIS: Final = ("none", "hypertension", "asthma", "diabetes", "depression", "cancer", "hiv")
ADULT: Final = 18
RETIRED: Final = 67
MISSING: Final = 0.02
WOMEN: Final = 0.51


def people(count: int = PEOPLE, seed: int = SEED) -> Iterator[tuple[str | int, ...]]:
    """Draw the people, one tuple of COLUMNS each; a missing value is the empty text.

    >>> next(people(1))
    (12, 'M', '04102', 'single', 'primary', 'none', 'none')
    """
    uniform = np.random.Generator(np.random.PCG64(seed)).random((count, 9))
    for u in uniform:
        age = int(75 * u[0] if u[1] < 0.88 else 75 + 25 * u[0] ** 2)  # noqa: PLR2004
        yield (
            age,
            "F" if u[2] < WOMEN else "M",
            f"04{101 + int(24 ** u[3]):03d}",
            _marital_status(age, u[4]),
            "" if u[8] < MISSING else _education(age, u[5]),
            "" if u[8] > 1 - MISSING else _occupation(age, u[6]),
            _pick(DIAGNOSIS, u[7] ** (0.5 if age > RETIRED else 1.5), 0.6),
        )


def _pick(words: Sequence[str], u: float, ratio: float) -> str:
    """Pick by geometric weights: each word `ratio` times as likely as the one before."""
    weights = ratio ** np.arange(len(words))
    return words[int(np.searchsorted(np.cumsum(weights) / weights.sum(), u))]


def _marital_status(age: int, u: float) -> str:
    if age < ADULT:
        return "single"
    married = min(0.65, (age - ADULT) / 40)
    widowed = max(0.0, (age - 60) / 80)
    if u < married:
        return "married"
    alone = "divorced" if u > 0.9 and age > 25 else "single"  # noqa: PLR2004
    return "widowed" if u < married + widowed else alone


def _education(age: int, u: float) -> str:
    return "primary" if age < ADULT else _pick(EDUCATION, u, 0.6)


def _occupation(age: int, u: float) -> str:
    if age < ADULT:
        return "none"
    return "retired" if age >= RETIRED else _pick(OCCUPATION, u, 0.8)


def main() -> None:
    """Write the people to the file named on the command line."""
    with Path(sys.argv[1]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(people())


if __name__ == "__main__":
    main()
