"""The marks of a picture, by their kind."""

from reid_sql.charts.spec import Bars, Cells, Line, Strokes
from reid_sql.charts.svg import Picture


def bars_of(picture: Picture, chart: int = 0) -> list[Bars]:
    return [mark for mark in picture.charts[chart].marks if isinstance(mark, Bars)]


def lines_of(picture: Picture, chart: int = 0) -> list[Line]:
    return [mark for mark in picture.charts[chart].marks if isinstance(mark, Line)]


def strokes_of(picture: Picture, chart: int = 0) -> list[Strokes]:
    return [mark for mark in picture.charts[chart].marks if isinstance(mark, Strokes)]


def cells_of(picture: Picture, chart: int = 0) -> list[Cells]:
    return [mark for mark in picture.charts[chart].marks if isinstance(mark, Cells)]
