"""Of GeoJSON a record is a feature: properties, other members and the place are columns, none is lost."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.sources.files import open_source

LINE = {"type": "LineString", "coordinates": [[1.5, 2.5], [3, 4]]}


def feature(properties: Any, geometry: Any, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry, **more}


def point(*coordinates: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(coordinates)}


FEATURES = [
    feature({"age": 30, "of": {"a": None}}, point(13.4, 52.5)),
    feature({"age": 31, "of": {}}, point(-0.1, 51.5, 7), id="b", bbox=[0, 0, 1, 1]),
    feature({"age": None, "of": "x, {y}"}, LINE, id=4),
    feature({}, None),
    feature(None, point(1, 2)),
]


def read(file: Path, features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if file.suffix == ".jsonl":
        text = "\n".join(map(json.dumps, features))
    else:
        text = json.dumps({"type": "FeatureCollection", "features": features}, indent=1)
    file.write_text(text, encoding="utf-8")
    con, name = open_source(str(file))
    rows = con.sql(f"FROM {name}")
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]


@pytest.mark.first(name=["a.geojson"])
@pytest.mark.parametrize("name", ["a.geojson", "a.json", "a.jsonl"])
def test_a_feature_is_a_record(tmp_path: Path, name: str) -> None:
    rows = read(tmp_path / name, FEATURES)
    assert [row["age"] for row in rows] == [30, 31, None, None, None]
    assert [row["longitude"] for row in rows] == [13.4, -0.1, None, None, 1]
    assert [row["latitude"] for row in rows] == [52.5, 51.5, None, None, 2]
    assert [row["altitude"] for row in rows] == [None, 7, None, None, None]
    assert [row["id"] is None for row in rows] == [True, False, False, True, True]
    assert len({str(row["of"]) for row in rows[:3]}) == 3  # an object with a NULL is no empty one
    assert json.loads(rows[2]["geometry"])["coordinates"] == LINE["coordinates"]


def test_many_points_are_all_read(tmp_path: Path) -> None:
    draw = np.random.default_rng(5).normal(size=(500, 2)).tolist()
    rows = read(
        tmp_path / "a.geojson", [feature({"n": i}, point(*at)) for i, at in enumerate(draw)]
    )
    assert [[float(row["longitude"]), float(row["latitude"])] for row in rows] == draw


@pytest.mark.parametrize(
    "broken",
    [
        [feature({"latitude": 1}, point(1, 2))],  # a key twice
        [feature({"id": 1}, point(1, 2), id=2)],
        [],
    ],
)
def test_what_would_lose_a_column_or_has_no_record_is_refused(
    tmp_path: Path, broken: list[dict[str, Any]]
) -> None:
    with pytest.raises(OutOfDomainError, match=r"must (contain|have)"):
        read(tmp_path / "a.geojson", broken)


def test_a_geometry_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text(json.dumps(LINE), encoding="utf-8")
    with pytest.raises(OutOfDomainError, match="must have a collection of features"):
        open_source(str(tmp_path / "a.geojson"))
