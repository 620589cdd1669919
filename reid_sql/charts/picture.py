"""Pictures: charts one below the other, as SVG with its own styles, for notebooks and files."""

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from textwrap import wrap
from typing import Final, ParamSpec, TypeAlias

from reid_sql.charts import spec
from reid_sql.charts.svg import LINE, WIDTH, draw_chart, escape, read_styles, text
from reid_sql.errors import OutOfDomainError

MAX_LETTERS: Final = 95  # of a line of a title
MARGIN: Final = 12  # around the picture, and above each chart
Charts: TypeAlias = spec.Chart | Sequence[spec.Chart]
P = ParamSpec("P")
VARIABLE: Final = re.compile(r"--(\w+): (#\w+);")


@dataclass(frozen=True)
class Picture:
    """Charts of an answer: `charts` is what they contain, a notebook shows them, `save` writes them."""

    charts: tuple[spec.Chart, ...] = field(repr=False)
    title: str = ""

    def svg(self) -> str:
        """Draw the charts one below the other under their titles, as SVG that needs no page around it."""
        drawn, top = [], float(MARGIN)
        for title, chart in ((self.title, None), *((chart.title, chart) for chart in self.charts)):
            for line in (each for part in title.split("\n") for each in wrap(part, MAX_LETTERS)):
                top += LINE
                drawn.append(text(0, top - 6, line, kind="title"))
            if chart is not None:
                height, elements = draw_chart(chart)
                drawn.append(f'<g transform="translate(0 {top:g})">{elements}</g>')
                top += height + MARGIN
        name = escape(self.title or "; ".join(chart.title for chart in self.charts))
        width = WIDTH + 2 * MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {width} {top:g}" '
            f'width="{width}" height="{top:g}" role="img" aria-label="{name}">'
            f"<title>{name}</title><style>\n{_fixed_styles()}</style>\n"
            f'<rect class="paper" x="{-MARGIN}" width="{width}" height="{top:g}"/>\n'
            + "\n".join(drawn)
            + "\n</svg>\n"
        )

    def save(self, file: str | Path) -> None:
        """Write the picture to an SVG file."""
        Path(file).write_text(self.svg(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, as an image: its styles do not reach the page."""
        name = escape(self.title or "; ".join(chart.title for chart in self.charts))
        data = b64encode(self.svg().encode()).decode("ascii")
        style = f"width:{WIDTH}px;max-width:100%"
        return f'<img alt="{name}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def _fixed_styles() -> str:
    """Write each colour in place of its name: some viewers of SVG know no names of colours."""
    rules = read_styles()
    colours = dict(VARIABLE.findall(rules))
    return re.sub(r"var\(--(\w+)\)", lambda name: colours[name[1]], rules)


def draw(charts: Charts, title: str = "") -> Picture:
    """Put one or more charts into a picture."""
    return Picture((charts,) if isinstance(charts, spec.Chart) else tuple(charts), title)


def pictured(make: Callable[P, Charts]) -> Callable[P, Picture]:
    """Return the function that puts into a picture what another one draws."""

    @wraps(make)
    def draw_answer(*arguments: P.args, **options: P.kwargs) -> Picture:
        return draw(make(*arguments, **options))

    return draw_answer


def check_plot_file(file: str) -> None:
    """Refuse a file that is not SVG, or in no folder, before any counting."""
    if Path(file).suffix != ".svg":
        raise OutOfDomainError(f"--plot must be an SVG file, got '{file}'; name it like chart.svg")
    if not Path(file).absolute().parent.is_dir():
        raise OutOfDomainError(
            f"--plot must be in an existing folder, got '{file}'; make the folder first"
        )


def save(charts: Charts, title: str, file: str, people: str = "") -> None:
    """Draw the charts into the file, under a title.

    `people` describes how people are counted, or warns that rows may not be people.
    """
    draw(charts, "\n".join(each for each in (title, people) if each)).save(file)
