"""People in classes, in the classes of one person and of several, are those that a loop counts."""

import random
from collections import Counter

import duckdb
import pytest

import reid_sql


@pytest.mark.parametrize("nulls", ["value", "drop"])
@pytest.mark.parametrize("seed", range(6))
def test_people_count_by_their_smallest_class_and_worst_value(nulls: str, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - no secret
    values: dict[tuple[object, ...], str] = {}
    rows = []
    for _ in range(60):
        known = (draw.randrange(25), draw.choice([None, 0, 1, 2]), draw.choice([None, "x", "y"]))
        rows.append((*known, values.setdefault(known, draw.choice("pqr"))))
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute("CREATE TABLE visits (person INT, age INT, town TEXT, disease TEXT)")
    con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
    classes: dict[tuple[object, ...], dict[int, str]] = {}
    for person, age, town, disease in rows:
        if nulls == "value" or None not in (age, town):
            classes.setdefault((age, town), {})[person] = disease
    smallest: dict[int, int] = {}
    worst: dict[int, int] = {}
    for people in classes.values():
        for person in people:
            smallest[person] = min(smallest.get(person, len(people)), len(people))
            worst[person] = min(worst.get(person, 9), len({*people.values()}))
    options = f"entity := 'person', nulls := '{nulls}'"
    sizes = con.execute(
        f"SELECT class_size, classes, records FROM class_size_histogram(visits, ['age', 'town'], {options})"
    ).fetchall()
    of_classes, of_people = Counter(map(len, classes.values())), Counter(smallest.values())
    assert sizes == [(size, of_classes[size], of_people[size]) for size in sorted(of_classes)]
    measured = con.execute(
        f"""SELECT records, classes, k, offending_classes, offending_records
            FROM l_diversity(visits, ['age', 'town'], 'disease', {options})"""
    ).fetchall()
    offending = sum(len({*people.values()}) < 2 for people in classes.values())
    of_people_offended = sum(value < 2 for value in worst.values())
    assert measured == [
        (len(smallest), len(classes), min(of_classes), offending, of_people_offended)
    ]
