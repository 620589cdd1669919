"""What a value stands for as it is written."""

from datetime import UTC, datetime

import pytest

from reid_sql.models.comparison.written import canonical, is_suppressed, numbers


@pytest.mark.parametrize("texts", [("30", "30.0", "+30", "3e1"), ("-0.5", "-.5", "-5e-1")])
def test_numbers_of_one_size_are_one_value(texts: tuple[str, ...]) -> None:
    assert len({canonical(text) for text in texts}) == 1


@pytest.mark.parametrize(
    "texts",
    [("30", "030"), ("9007199254740993", "9007199254740992"), ("20 to 29", "20"), ("a", "A"), ("", None)],
)
def test_values_that_differ_stay_apart(texts: tuple[str | None, ...]) -> None:
    assert len({canonical(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "told"), [(None, False), ("", False), (" * ", False), ("1*", True), ("?", True)]
)
def test_stars_alone_tell_nothing(text: str | None, told: bool) -> None:  # noqa: FBT001 - a case
    assert is_suppressed(text) is not told


def test_days_are_numbers_and_codes_are_not() -> None:
    days = numbers(["1970-01-02", "2000-02-29 12:30:00"])
    assert days is not None
    expected = [86400.0, datetime(2000, 2, 29, 12, 30, tzinfo=UTC).timestamp()]
    assert days.tolist() == expected
    for other in (["01067", "1"], ["2001-02-30"], ["1", "inf"], ["a"]):
        assert numbers(other) is None
