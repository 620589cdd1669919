import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import ReidError
from reid_sql.models.copula import copula_file
from tests.cells import each_cell
from tests.copulas import independent

TEXT = copula_file.copula_to_json(independent())


def resigned(**changed: Any) -> str:
    """The model with parts changed, under a checksum that fits."""
    content = json.loads(TEXT) | changed
    content.pop("sha256")
    plain = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return json.dumps(content | {"sha256": hashlib.sha256(plain.encode()).hexdigest()})


def test_a_model_comes_back_as_it_was() -> None:
    found = copula_file.copula_from_json(TEXT)
    assert copula_file.copula_to_json(found) == TEXT
    values = [["F", "X"], ["3", "2"]]
    assert (
        found.cell_probability(values).probability
        == independent().cell_probability(values).probability
    ).all()


@each_cell(
    "text, words",
    [
        ("", "a saved model must be JSON"),
        ("{", "a saved model must be JSON"),
        ("[" * 100_000, "a saved model must be JSON"),
        ("[]", "a saved model must say that its format is"),
        ("NaN", "a saved model must be JSON"),
        (TEXT.replace("0.6", "0.7", 1), "a saved model must carry its own checksum"),
        (resigned(version=2), "a saved model must be of version 1, got 2"),
        (resigned(records=0), "a saved model must have all its parts"),
        (resigned(columns=[]), "a saved model must have all its parts"),
        (resigned(columns=7), "a saved model must have all its parts"),
        (resigned(correlation=[[1, 2], [2, 1]]), "correlation must have no negative eigenvalue"),
        (resigned(calibration=0.0), "a saved model must have all its parts"),
        (resigned(calibration=1e9), "a saved model must have all its parts"),
        (resigned(calibration="1"), "a saved model must have all its parts"),
        (resigned(method="__import__('os')"), "a saved model must have all its parts"),
    ],
)
def test_damage_is_explained_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ReidError, match=words):
        copula_file.copula_from_json(text)


@given(st.integers(0, len(TEXT) - 1), st.characters(codec="ascii"))
def test_any_changed_character_is_noticed(place: int, character: str) -> None:
    changed = TEXT[:place] + character + TEXT[place + 1 :]
    try:
        assert copula_file.copula_to_json(copula_file.copula_from_json(changed)) == TEXT
    except ReidError:
        assert changed != TEXT


def test_a_calibrated_model_of_an_earlier_version_says_so() -> None:
    content = json.loads(resigned(calibration=2.0))
    content.pop("status")
    content.pop("sha256")
    plain = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    earlier = json.dumps(content | {"sha256": hashlib.sha256(plain.encode()).hexdigest()})
    assert copula_file.copula_from_json(earlier).status == copula_file.STATUS_EARLIER_VERSION
    assert copula_file.copula_from_json(TEXT).status == "ok"
