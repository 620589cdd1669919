"""Damaged models, scenarios and policies are refused in one sentence, or mean what they say.

REID_SQL_DAMAGED says how many.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reid_sql.check.policy import read_policy
from reid_sql.errors import ReidError
from reid_sql.models.attacker.scenario import scenario
from reid_sql.models.copula import copula_file
from reid_sql.models.copula.copula_file import SavedModels
from reid_sql.models.copula.copula_fit import fit_copula
from reid_sql.models.evidence import rows_from_columns

DAMAGED = int(os.environ.get("REID_SQL_DAMAGED", "300"))
ROOT = Path(__file__).parents[3]
SCENARIO = (ROOT / "reid_sql" / "scenarios" / "adult_voter_register.toml").read_text(
    encoding="utf-8"
)
POLICY = (ROOT / "docs" / "people_release.toml").read_text(encoding="utf-8")


def damaged(text: str, seed: int) -> str:
    """The text with a few places cut out, doubled, changed or swapped with odd ones."""
    rng = random.Random(seed)  # noqa: S311 - damage, no secrets
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice([1, 1, 2, 5, 40, 400]))
        odd = rng.choice(
            [
                "",
                text[start:end] * 2,
                "\x00",
                "9" * 5000,
                "-",
                "nan",
                "1e999",
                "[",
                '"',
                "\n",
                "é",
                "null",
            ]
        )
        text = text[:start] + odd + text[end:]
        text = text or "x"
    return text


def refused_or(read: Callable[[str], object], text: str, seed: int) -> object:
    """What is read, or None where it is refused in one line that has a rule and what was got."""
    try:
        return read(text)
    except ReidError as error:
        reported = str(error)
    assert "\n" not in reported, seed
    assert len(reported) < 2000, seed
    return None


@pytest.fixture(scope="module")
def sound() -> str:
    rows = rows_from_columns({"sex": ["F"] * 60 + ["M"] * 40})
    return copula_file.copula_to_json(fit_copula(rows, (), "paper", 0))


def test_no_damaged_model_is_taken_for_a_sound_one(sound: str) -> None:
    for seed in range(DAMAGED):
        text = damaged(sound, seed)

        def read(text: str) -> object:
            saved = SavedModels(np.array([1]), ["town"], [text])
            return copula_file.copula_from_json(copula_file.model_to_text(saved, "town"))

        found = refused_or(read, text, seed)
        assert found is None or copula_file.copula_to_json(found) == sound, seed  # type: ignore[arg-type]


def test_damaged_scenarios_are_refused_or_read(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    for seed in range(DAMAGED):
        file.write_text(damaged(SCENARIO, seed), encoding="utf-8")
        refused_or(lambda _: scenario(str(file)), "", seed)


def test_damaged_policies_are_refused_or_read(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    for seed in range(DAMAGED):
        file.write_text(damaged(POLICY, seed), encoding="utf-8")
        refused_or(lambda _: read_policy(str(file)), "", seed)
