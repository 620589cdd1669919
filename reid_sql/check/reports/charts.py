"""The report's charts, as inline SVG whose colours are the page's: light, dark and on paper."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape as escaped
from typing import Any, Final

from reid_sql.visible import visible

WIDTH: Final = 760
ROW: Final = 28
LABEL: Final = 190  # room for a bar's name
FIGURE: Final = 170  # room for what stands behind a bar
HEIGHT: Final = 330
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 16, 44
STRIPE: Final = 7  # from one stripe of a risky bar to the next


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its length, what is written behind it; None is masked."""

    label: str
    value: float | None
    text: str
    risky: bool = False


def escape(text: str) -> str:
    """Give the text as SVG may hold it."""
    return escaped(visible(text))


def bars(title: str, rows: Sequence[Bar], mark: tuple[float, str] | None = None) -> str:
    """Draw bars, one a line, with a mark across them where there is something to compare with."""
    longest = max([row.value or 0.0 for row in rows] + ([mark[0]] if mark else [])) or 1.0
    scale = (WIDTH - LABEL - FIGURE) / longest
    height = ROW * len(rows) + (ROW if mark else 8)
    drawn = [_bar(row, ROW * place, scale) for place, row in enumerate(rows)]
    if mark:
        at = LABEL + mark[0] * scale
        drawn.append(f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{ROW * len(rows)}"/>')
        drawn.append(
            f'<text class="soft" x="{at:.1f}" y="{height - 8}" text-anchor="{_anchor(at)}">'
            f"{escape(mark[1])}</text>"
        )
    return _svg(title, height, drawn)


def _anchor(at: float) -> str:
    return "end" if at > WIDTH * 0.7 else "start" if at < WIDTH * 0.3 else "middle"


def _bar(row: Bar, top: float, scale: float) -> str:
    length = 12.0 if row.value is None else max(row.value * scale, 1.5 if row.value else 0.0)
    kind = "masked" if row.value is None else "risky" if row.risky else "bar"
    label = row.label if len(row.label) <= 26 else f"{row.label[:25]}…"  # noqa: PLR2004 - what fits LABEL
    return (
        f'<text x="{LABEL - 10}" y="{top + 19:.1f}" text-anchor="end">{escape(label)}</text>'
        f'<rect class="{kind}" x="{LABEL}" y="{top + 5:.1f}" width="{length:.1f}" height="{ROW - 10}" '
        'rx="2"/>'
        f"{_hatches(LABEL, top + 5, length, ROW - 10) if kind == 'risky' else ''}"
        f'<text class="soft" x="{LABEL + length + 8:.1f}" y="{top + 19:.1f}">{escape(row.text)}</text>'
    )


def _hatches(left: float, top: float, width: float, height: float) -> str:
    """Stripes across a bar, so that it is told apart on grey paper too."""
    steps = (STRIPE * number for number in range(1, int((width + height) / STRIPE) + 1))
    lines = (
        f"M{left + max(0, step - height):.1f} {top + min(step, height):.1f}"
        f"L{left + min(step, width):.1f} {top + max(0, step - width):.1f}"
        for step in steps
    )
    return f'<path class="hatch" d="{"".join(lines)}"></path>'


def curve(title: str, forecast: Mapping[str, Any], limit: float | None) -> str:
    """Draw the measured share of right matches, the forecast in its band, and the limit, over people.

    People are in log scale.
    """
    measured, points = forecast["measured"], forecast["points"]
    low, high = math.log10(measured[0]["people"]), math.log10(points[-1]["people"])

    def x(people: float) -> float:
        return LEFT + (math.log10(people) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)

    def path(rows: Sequence[Mapping[str, float]], column: str) -> str:
        return " ".join(f"{x(row['people']):.1f},{y(row[column]):.1f}" for row in rows)

    here = x(points[0]["people"])
    drawn = [
        *_grid(x, y, low, high),
        f'<line class="mark" x1="{here:.1f}" x2="{here:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>',
    ]
    drawn.append(f'<text class="soft" x="{here - 6:.1f}" y="{TOP + 12}" text-anchor="end">the table</text>')
    ends = f"{path(points, 'correctness_high')} {path(points[::-1], 'correctness_low')}"
    drawn.append(
        f'<polygon class="band" points="{ends}"/>'
        f'<polyline class="curve" points="{path(measured, "correctness")}"/>'
    )
    drawn.append(f'<polyline class="forecast" points="{path(points, "correctness")}"/>')
    if limit is not None:
        drawn.append(
            f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(limit):.1f}" y2="{y(limit):.1f}"/>'
        )
        words = f'<text class="limit-text" x="{LEFT + 6}" y="{y(limit) - 6:.1f}">limit {limit:g}</text>'
        drawn.append(words)
    return _svg(title, HEIGHT, drawn)


def _grid(x: Any, y: Any, low: float, high: float) -> list[str]:  # noqa: ANN401 - two scales
    drawn = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawn.append(
            f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>'
        )
        drawn.append(
            f'<text class="soft" x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">'
            f"{100 * share:g} %</text>"
        )
    step = max(1, math.ceil((math.floor(high) - math.ceil(low) + 1) / 8))
    for power in range(math.ceil(low), math.floor(high) + 1, step):
        label = f"{10**power:,}" if power < 7 else f"10^{power}"  # noqa: PLR2004 - what fits
        at = x(10.0**power)
        side = "end" if at > WIDTH - RIGHT - ROW else "middle"
        drawn.append(
            f'<text class="soft" x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="{side}">{label}</text>'
        )
    drawn.append(
        f'<text class="soft" x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">'
        "people in the population</text>"
    )
    return drawn


def tradeoff(title: str, forms: Sequence[Mapping[str, Any]], chosen: float | None) -> str:
    """Draw risk against loss of a table's forms, both shares: a dot where class sizes meet the policy.

    A cross where they do not, and a line at the loss of the form that was chosen.
    """
    most = max([form["records_below_k"] for form in forms], default=0.0) or 1.0

    def x(loss: float) -> float:
        return LEFT + loss * (WIDTH - LEFT - RIGHT)

    def y(risk: float) -> float:
        return TOP + (1 - risk / most) * (HEIGHT - TOP - BOTTOM)

    drawn = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        at, down = x(share), y(share * most)
        drawn.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>')
        drawn += [_label(LEFT - 8, down + 4, f"{100 * share * most:.3g} %", "end")]
        drawn += [_label(at, HEIGHT - BOTTOM + 18, f"{100 * share:g} %", "end" if share == 1 else "middle")]
    if chosen is not None:
        ends = f'x1="{x(chosen):.1f}" x2="{x(chosen):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
        drawn += [
            f'<line class="mark" {ends}/>',
            _label(x(chosen), TOP - 4, "the release", _anchor(x(chosen))),
        ]
    for form in forms:
        at, down = x(form["generalisation_loss"]), y(form["records_below_k"])
        drawn.append(
            f'<circle class="bar" cx="{at:.1f}" cy="{down:.1f}" r="4"></circle>'
            if form["meets_class_sizes"]
            else f'<path class="hatch" d="M{at - 4:.1f} {down - 4:.1f}l8 8m0 -8l-8 8"></path>'
        )
    drawn.append(_label(WIDTH - RIGHT, HEIGHT - 6, "information lost by coarser values", "end"))
    return _svg(title, HEIGHT, drawn)


def _label(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text class="soft" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(title: str, height: float, drawn: Sequence[str]) -> str:
    inside = "".join(drawn)
    named = f'role="img" aria-label="{escape(title)}"'
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" {named}><title>{escape(title)}</title>{inside}</svg>'
