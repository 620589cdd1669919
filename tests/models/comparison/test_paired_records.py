"""Values as they are written: equal ones, numbers, and suppressed ones."""

from datetime import UTC, datetime

import pytest

from reid_sql.models.comparison.paired_records import canonical, is_suppressed, parse_numbers


@pytest.mark.parametrize("texts", [("30", "30.0", "+30", "3e1"), ("-0.5", "-.5", "-5e-1")])
def test_numbers_of_one_size_are_one_value(texts: tuple[str, ...]) -> None:
    assert len({canonical(text) for text in texts}) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ("30", "030"),
        ("9007199254740993", "9007199254740992"),
        ("20 to 29", "20"),
        ("a", "A"),
        ("", None),
    ],
)
def test_values_that_differ_stay_apart(texts: tuple[str | None, ...]) -> None:
    assert len({canonical(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "has_value"), [(None, False), ("", False), (" * ", False), ("1*", True), ("?", True)]
)
def test_stars_alone_are_suppressed(text: str | None, has_value: bool) -> None:  # noqa: FBT001 - a case
    assert is_suppressed(text) is not has_value


def test_days_are_numbers_and_codes_are_not() -> None:
    days = parse_numbers(["1970-01-02", "2000-02-29 12:30:00"])
    assert days is not None
    expected = [86400.0, datetime(2000, 2, 29, 12, 30, tzinfo=UTC).timestamp()]
    assert days.tolist() == expected
    for other in (["01067", "1"], ["2001-02-30"], ["1", "inf"], ["a"]):
        assert parse_numbers(other) is None
