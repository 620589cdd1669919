"""A row a person in place of a table's rows, before a reduction counts it."""

from collections.abc import Sequence


def of_people(given: Sequence[str]) -> list[str]:
    """The arguments of a reduction over a row a person, who is its own key."""
    told = {"entity": "NULL", "key": "reid_key_of_people(key::VARCHAR, entity::VARCHAR)"}
    return [told.get(name.strip('"'), name) for name in given]


def individuals_of(plan: str, names: Sequence[str]) -> str:
    """The plan over a row a person, or a row for a person's sensitive value."""
    if "sensitive" in names:
        given = "try_cast(qi AS VARCHAR[]), sensitive::VARCHAR, entity::VARCHAR, nulls::VARCHAR"
        return f"reid_of_values({plan}, tbl, {given})"
    given = "try_cast(qi AS VARCHAR[]), entity::VARCHAR, nulls::VARCHAR"
    weight = "weight::VARCHAR" if "weight" in names else "NULL::VARCHAR"
    return f"reid_of_individuals({plan}, tbl, {given}, {weight})"
