"""Two releases of a few people, compared person by person: what every figure is by its definition.

A row is (person, values, sensitive value). Nothing is counted by class sizes that were counted before: each
figure goes through the people, or through the classes with their rows.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.several_releases import combine

Rows = Sequence[tuple[Any, Any, Any]]
Truth = dict[str, float | None]
NEEDS_PEOPLE = (
    *(
        "stayed",
        "entered",
        "left",
        "same_class",
        "followed_right",
        "expected_right_links",
        "unique_in_both",
    ),
    *("entered_alone_right", "left_alone_right", "signature_changed", "m_invariance"),
    *("all_people", "unique_by_one", "unique_by_all", "beyond_one"),
)
NEEDS_VALUES = (
    *(
        "entered_value",
        "left_value",
        "forward_attack",
        "forward_anonymity",
        "cross_attack",
        "m_uniqueness",
    ),
    *(
        "cross_anonymity",
        "backward_attack",
        "backward_anonymity",
        "bcf_anonymity",
        "value_by_intersection",
    ),
    *("signature_changed", "m_invariance"),
)
BY_VALUES = (  # the figures that compare classes by their values
    *(
        "followed",
        "followed_right",
        "expected_right_links",
        "entered_alone",
        "left_alone",
        "left_value",
    ),
    *(
        "entered_alone_right",
        "left_alone_right",
        "entered_value",
        "backward_attack",
        "backward_anonymity",
    ),
)
RESTS_ON_KEYS = (  # the figures that are known only if a key of one release is in the other
    *("followed_right", "expected_right_links", "entered_alone_right", "left_alone_right"),
    *("backward_attack", "backward_anonymity"),
)
OF_TARGETS = (
    "forward_attack",
    "forward_anonymity",
    "cross_attack",
    "cross_anonymity",
    "value_by_intersection",
)


def classes_of(rows: Rows) -> dict[Any, list[tuple[Any, Any]]]:
    found = defaultdict(list)
    for person, values, sensitive in rows:
        found[values].append((person, sensitive))
    return found


def compare(first: Rows, second: Rows, *, keyed: bool, of_people: bool, sensitive: bool) -> Truth:
    """Every figure, None where it is not known."""
    if of_people:
        first, second = list(dict.fromkeys(first)), list(dict.fromkeys(second))
    one, two = classes_of(first), classes_of(second)
    people = [
        {p for p, _, _ in rows} if of_people else set(range(len(rows))) for rows in (first, second)
    ]
    ids = [{p for p, _, _ in rows} for rows in (first, second)]
    stayed = ids[0] & ids[1]
    truth: Truth = {"first_people": len(people[0]), "second_people": len(people[1])}
    truth["common_classes"] = _common((first, second), (one, two), of_people=of_people)
    truth |= _presence(ids, stayed, one, two)
    truth |= _followed(one, two, stayed, of_people=of_people)
    truth |= _changes(one, two)
    truth |= _attacks(first, second, one, two, stayed if keyed else None)
    truth |= _invariance(first, second, one, two, stayed) | combine([first, second])
    return _hide(truth, first, second, stayed, keyed=keyed, sensitive=sensitive)


def _common(tables: Any, classes: Any, *, of_people: bool) -> int:
    found = []
    for rows, other in zip(tables, reversed(classes), strict=True):
        inside = [p for p, values, _ in rows if values in other]
        found.append(len(set(inside)) if of_people else len(inside))
    return min(found)


def _presence(ids: Any, stayed: set[Any], one: Any, two: Any) -> Truth:
    same = {p for q in one for p, _ in one[q] if p in [other for other, _ in two.get(q, [])]}
    return {
        "stayed": len(stayed),
        "entered": len(ids[1] - ids[0]),
        "left": len(ids[0] - ids[1]),
        "same_class": len(same),
    }


def _followed(one: Any, two: Any, stayed: set[Any], *, of_people: bool) -> Truth:
    links = [(one[q][0][0], two[q][0][0]) for q in one if len(one[q]) == len(two.get(q, [])) == 1]
    ends = [set(end) if of_people else list(end) for end in zip(*links, strict=True)] or [[], []]
    right: Any = [a for a, b in links if a == b]
    best: dict[Any, float] = {}
    for q in one:
        for p in {p for p, _ in one[q]} & {p for p, _ in two.get(q, [])}:
            best[p] = max(best.get(p, 0), 1 / max(len(one[q]), len(two[q])))
    alone = [{p for q in side for p, _ in side[q] if len(side[q]) == 1} for side in (one, two)]
    return {
        "followed": max(map(len, ends)),
        "followed_right": len(set(right)),
        "expected_right_links": sum(best.values()),
        "unique_in_both": len(stayed & alone[0] & alone[1]),
    }


def _changes(one: Any, two: Any) -> Truth:
    truth: Truth = dict.fromkeys(
        (
            "entered_alone",
            "left_alone",
            "entered_alone_right",
            "left_alone_right",
            "entered_value",
            "left_value",
        ),
        0,
    )
    for before, after, name in ((one, two, "entered"), (two, one, "left")):
        for q in {*one, *two}:
            old, new = before.get(q, []), after.get(q, [])
            if len(new) == len(old) + 1:
                truth[f"{name}_alone"] += 1  # type: ignore[operator]
                truth[f"{name}_alone_right"] += {p for p, _ in old} <= {p for p, _ in new}  # type: ignore[operator]
            more = Counter(s for _, s in new)
            more.subtract(s for _, s in old)
            changed = {s: n for s, n in more.items() if n}
            if len(changed) == 1 and min(changed.values()) > 0:
                truth[f"{name}_value"] += sum(changed.values())  # type: ignore[operator]
    return truth


def _attacks(first: Rows, second: Rows, one: Any, two: Any, stayed: set[Any] | None) -> Truth:
    """Go through the pairs of classes of every person in both; without a key of those who may be."""
    if stayed is None:
        pairs = [(q, q) for q in one if q in two for _ in range(min(len(one[q]), len(two[q])))]
    else:
        of = [{p: q for p, q, _ in rows} for rows in (first, second)]
        pairs = [(of[0][p], of[1][p]) for p in stayed]
    left = {"forward": [], "cross": []}  # type: ignore[var-annotated]
    attacked, by_one_value = Counter(), 0  # type: ignore[var-annotated]
    for q, r in pairs:
        mine, theirs = ([s for _, s in group] for group in (one[q], two[r]))
        for name, own, other in (("forward", mine, theirs), ("cross", theirs, mine)):
            cracked = sum(max(0, own.count(s) - other.count(s)) for s in set(own))
            left[name].append(len(own) - cracked)
            attacked[name] += cracked > 0
        by_one_value += len({*mine} & {*theirs}) == 1 and len({*mine}) > 1 and len({*theirs}) > 1
    truth: Truth = {f"{name}_attack": attacked[name] for name in left}
    truth |= {f"{name}_anonymity": min(sizes, default=None) for name, sizes in left.items()}
    rests, behind = [], 0
    for r in two:
        mine, theirs = [s for _, s in one.get(r, [])], [s for _, s in two[r]]
        cracked = sum(min(mine.count(s), theirs.count(s)) for s in set(theirs))
        # With a key nobody enters who is in the first release, be it in another class.
        known = None if stayed is None else {p for p, _, _ in first}
        entered = len(theirs) - cracked if known is None else sum(p not in known for p, _ in two[r])
        if entered and cracked < len(theirs):
            rests.append(len(theirs) - cracked)
            behind += entered * (cracked > 0)
    truth |= {"backward_attack": behind, "backward_anonymity": min(rests, default=None)}
    return truth | {"value_by_intersection": by_one_value}


def _invariance(first: Rows, second: Rows, one: Any, two: Any, stayed: set[Any]) -> Truth:
    of = [{p: q for p, q, _ in rows} for rows in (first, second)]
    groups = [[s for _, s in group] for side in (one, two) for group in side.values()]
    unique = all(len(group) == len(set(group)) for group in groups)
    least = min(map(len, groups)) if unique else 0
    changed = sum({s for _, s in one[of[0][p]]} != {s for _, s in two[of[1][p]]} for p in stayed)
    return {
        "m_uniqueness": least,
        "signature_changed": changed,
        "m_invariance": 0 if changed else least,
    }


def _hide(
    truth: Truth, first: Rows, second: Rows, stayed: set[Any], *, keyed: bool, sensitive: bool
) -> Truth:
    """Leave out what needs people or values that are not known, or classes that are never the same."""
    several = keyed and any(
        max(Counter(p for p, _, _ in rows).values()) > 1 for rows in (first, second)
    )
    unknown = truth["same_class"] == 0 if keyed and stayed else truth["common_classes"] == 0
    paired = ("unique_in_both", "signature_changed", "m_invariance", *(OF_TARGETS if keyed else ()))
    hidden = {*(() if keyed else NEEDS_PEOPLE), *(() if sensitive else NEEDS_VALUES)}
    hidden |= {*(paired if several or not stayed else ()), *(BY_VALUES if unknown else ())}
    hidden |= {*(RESTS_ON_KEYS if keyed and not stayed else ())}
    hidden |= {*(OF_TARGETS if unknown and not keyed else ())}
    shown: Truth = {name: None if name in hidden else value for name, value in truth.items()}
    three = [shown[f"{name}_anonymity"] for name in ("forward", "cross", "backward")]
    return shown | {"bcf_anonymity": min((n for n in three if n is not None), default=None)}


def shares(truth: Mapping[str, float | None], answers: Sequence[Mapping[str, Any]]) -> None:
    """Hold every value the truth, and every share the value over its total."""
    due = {
        name: value if value is None else pytest.approx(value, rel=1e-12)
        for name, value in truth.items()
    }
    assert {row["figure"]: row["value"] for row in answers} == due
    for row in answers:
        assert row["share"] is None or row["share"] == row["value"] / row["total"] <= 1, row[
            "figure"
        ]
