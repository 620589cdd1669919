"""Pictures as files: what the commands draw, checked before any counting."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures.style import plain_lines
from reid_sql.errors import OutOfDomainError, ReidError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: Final = (".png", ".svg")
TITLE: Final = 100  # characters of a line of it


def check_plot_file(file: str) -> None:
    """Refuse a file that is no PNG or SVG, or a missing chart library, before any counting."""
    if Path(file).suffix not in KINDS:
        raise OutOfDomainError(f"--plot must be a PNG or SVG file, got '{file}'; name it like forecast.svg")
    if not Path(file).absolute().parent.is_dir():
        raise OutOfDomainError(f"--plot must lie in an existing folder, got '{file}'; make the folder first")
    try:
        import matplotlib  # noqa: F401, ICN001, PLC0415 - an optional extra
    except ImportError:
        remedy = "install it with: pip install 'reid-sql[plot]'"
        raise ReidError(f"--plot needs the chart library matplotlib, got none; {remedy}") from None


def save(figure: "Figure", title: str, file: str) -> None:
    """Write the figure into the file, under its title."""
    figure.suptitle(plain_lines(title, TITLE))
    figure.savefig(file, dpi=150)
