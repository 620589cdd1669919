"""A release of people with several records: classes count people, and nobody is left out in part."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reid_sql.errors import UnavailableError
from reid_sql.prepare.preparation import Prepared
from tests.prepare.brute import K, made_by, policy
from tests.prepare.test_dialects import ordered
from tests.prepare.test_local import made_of

QI = ["age", "town", "ward"]


def visits(seed: int, records: int = 700) -> pl.DataFrame:
    """Visits of patients to wards."""
    rng = np.random.default_rng(seed)
    patients = rng.integers(0, records // 3, records)
    return pl.DataFrame(
        {
            "patient": [f"it's {each}" for each in patients],
            "age": (patients * 7 % 60 + 20).astype(np.int16),
            "town": [f"T{each % 5}" for each in patients],
            "ward": [
                ["A", "B", "C", None][each]
                for each in rng.choice(4, records, p=[0.5, 0.3, 0.17, 0.03])
            ],
            "ill": [["flu", "cold"][each // 3 % 2] for each in patients],
        }
    )


def prepared(
    folder: Path, frame: pl.DataFrame, more: str = "suppression = 0.1", *checks: str
) -> Prepared:
    table = 'entity = "patient"\nsensitive = ["ill"]'
    asked = policy("people.parquet", QI, *(checks or (K.format(4),)), prepare=more, table=table)
    return made_of(folder, frame, asked)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_classes_have_k_people_and_people_are_whole(tmp_path: Path, seed: int) -> None:
    frame = visits(seed)
    # with the identifier itself, by which people are found again here
    made = prepared(tmp_path, frame, 'suppression = 0.1\nkeep = ["patient"]')
    assert made.passed, made.page
    released = made_by(made.sql, "people_released")
    people = released.group_by([c for c in QI if c in released.columns]).agg(
        pl.col("patient").n_unique()
    )["patient"]
    assert min(people.to_list()) >= 4
    before, after = (dict(each.group_by("patient").len().iter_rows()) for each in (frame, released))
    assert all(after[patient] == before[patient] for patient in after)
    assert len(after) >= 0.9 * len(before)
    (page,) = made.page["tables"]
    share = 1 - len(released) / len(frame)
    assert page["suppressed_share"] is None or page["suppressed_share"] == pytest.approx(
        share, abs=1e-3
    )
    namespace: dict[str, object] = {}
    exec(made.python, namespace)  # noqa: S102 - as a reader runs it
    polars = namespace["released_people"](frame.lazy()).collect()  # type: ignore[operator]
    columns = released.columns
    assert ordered(polars.select(columns).rows()) == ordered(released.rows())


def test_it_is_the_least_loss_and_says_so(tmp_path: Path) -> None:
    made = prepared(tmp_path, visits(4))
    (page,) = made.page["tables"]
    assert page["optimal"]
    assert page["entity"] == "patient"
    assert page["columns"][0]["column"] == "age"
    assert len(page["columns"]) == len(QI)
    assert all(len(each["levels"]) == len(QI) for each in page["frontier"])


REFUSED = [
    ('method = "local"', "prepare.method must be 'global' where entity = 'patient'"),
    ('loss = "discernibility"', "prepare.loss must be 'entropy' where entity = 'patient'"),
    ('target = "ill"', "prepare must have no target"),
    ('cross_tables = [["town", "ill"]]', "prepare must have no cross_tables"),
    ("cells = true", "prepare must have no cells"),
]


@pytest.mark.parametrize(("more", "message"), REFUSED, ids=lambda each: each[:20])
def test_what_counts_records_is_refused(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(UnavailableError, match=message):
        prepared(tmp_path, visits(7), more)


def test_the_best_method_is_global(tmp_path: Path) -> None:
    assert prepared(tmp_path, visits(8), 'method = "best"').page["tables"][0]["method"] == "global"


def test_a_check_that_the_coarsest_release_does_not_meet_is_named(tmp_path: Path) -> None:
    """Classes of one row each have one value a person; coarser ones have people of several."""
    frame = visits(1).with_columns(day=pl.int_range(pl.len()), ill=pl.Series(["flu", "cold"] * 350))
    diverse = 'measure = "l_diversity"\nsensitive = "ill"\nat_least = 2'
    checks = K.format(4), diverse
    table = 'entity = "patient"\nsensitive = ["ill"]'
    made = made_of(tmp_path, frame, policy("people.parquet", [*QI, "day"], *checks, table=table))
    assert made.report is None
    [caution] = made.page["tables"][0]["cautions"]
    assert (
        "l_diversity of ill says not judged; sensitive must have one value for each person"
        in caution
    )
    assert frame.group_by("patient").agg(pl.col("ill").n_unique())["ill"].max() == 2
    few = made_of(tmp_path, visits(1), policy("people.parquet", QI, K.format(500), table=table))
    [caution] = few.page["tables"][0]["cautions"]
    assert caution.endswith("the check of k says fail; beyond the limit.")
