"""The page of an exploration as HTML: a form with the choices, and what reid-sql answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from typing import Final

from reid_sql.charts.svg import escape, read_styles
from reid_sql.check.html import released_columns_section, render_checks
from reid_sql.check.html_parts import css_class, render_table, table_section
from reid_sql.check.next_steps import describe_people_alone
from reid_sql.check.policy_model import Preparing
from reid_sql.check.remarks import INFORMATIVE_CODES, without_codes
from reid_sql.check.sentences import describe_verdict
from reid_sql.errors import ReidError
from reid_sql.explore.choice import KNOWN, OMITTED, PRIVATE, ROLES, Choice
from reid_sql.explore.exploration import Answer, Estimate, Exploration
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.numerics.quantiles import percent

INTRODUCTION: Final = (
    "The choices are proposals: only you know what others know. Nothing leaves this machine."
)
FILES: Final = {
    "policy.toml": "the policy (TOML)",
    "release.parquet": "the release (Parquet), which the policy names",
    "release.csv": "the release (CSV)",
    "release.sql": "the release as SQL of DuckDB",
    "report.html": "the report, with small counts masked (HTML)",
}
COUNT_ALL: Final = (
    '<p>The table is large: what needs all rows again is not counted yet. <button form="choices" name="all" '
    'value="1">Count the columns in no check, the cautions and the population</button></p>'
)
COUNT_ROWS: Final = (
    "<p>There are too many combinations to count at a click: these are shares of {:,} drawn rows, each counted among all {:,}. "
    'The intervals are of 95 %. <button form="choices" name="all" value="1">Count all rows</button></p>'
)
NOT_SHOWN: Final = "not shown"
RELOAD: Final = '<noscript><meta http-equiv="refresh" content="3"></noscript>'
SEARCH: Final = (
    '<p><button id="seek" name="search" value="1">Search for the least loss</button> <span class="soft">prepare looks for '
    "the forms of the columns that others can know; {}.</span></p>"
)
STOP: Final = (
    '<p>Searching …</p><p id="progress" class="soft" aria-live="off">{}</p>'
    '<p><button id="seek" name="stop" value="1">Stop the search</button></p>'
)
SHOW_PEOPLE: Final = '<p><button form="choices" name="people" value="1">Show values of the people who are easiest to find</button></p>'
DROP: Final = '<p><button form="choices" name="drop" value="1">Drop A</button></p>'
TAKE: Final = '<p><button name="take" value="1">Take these forms over</button></p>'


@dataclass(frozen=True)
class State:
    """A choice with its number, and that of the choice before it; `refusal` is why there is no answer."""

    number: int
    choice: Choice
    previous: int | None = None
    refusal: str = ""
    kept: "State | None" = None  # that is shown next to it, as A


def render_page(exploration: Exploration, state: State, nonce: str) -> str:
    """Write the whole page."""
    folder = resources.files("reid_sql.explore")
    css = read_styles() + resources.files("reid_sql.check").joinpath("report.css").read_text(
        "utf-8"
    )
    css += folder.joinpath("explore.css").read_text("utf-8")
    script = folder.joinpath("explore.js").read_text("utf-8")
    form = _form(exploration, state)
    reload = RELOAD if 'id="progress"' in form else ""
    title = escape(f"Who can be identified in {exploration.file}?")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'{reload}<style nonce="{nonce}">\n{css}</style></head>\n<body><main>\n<h1>{title}</h1>'
        f'<p class="soft">{INTRODUCTION}</p>{form}'
        f'<div id="answer" aria-live="polite">{_answer(exploration, state)}</div>'
        f'</main><script nonce="{nonce}">{script}</script></body></html>\n'
    )


def _form(exploration: Exploration, state: State) -> str:
    """The choices: a row for each column, then what is asked of the release."""
    choice = state.choice
    steps = {} if state.refusal else exploration.steps(choice)
    rows = "".join(
        _row(exploration, choice, at, steps.get(name, ())) for at, name in enumerate(choice.columns)
    )
    heads = ("column", "who can know it?", "how exact in the release?")
    checked = " checked" if choice.leaves_out else ""
    people = "" if choice.population is None else f"{choice.population:,}"
    sensitive = " or reveal what is sensitive" if choice.person is None else ""
    return (
        f'<form id="choices" method="post" action="choose" autocomplete="off"><input type="hidden" name="from" '
        f'value="{state.number}">{render_table(heads, rows)}<div id="options" class="options">'
        '<label>Fewest people who look alike <input id="k" name="k" type="number" min="1" max="1000" '
        f'value="{choice.smallest_group}"></label>'
        f'<label><input id="omit" name="omit" type="checkbox" value="1"{checked}> leave out the people whose '
        f"groups are smaller{sensitive}</label>"
        '<label>People in the population <input id="population" name="population" inputmode="numeric" '
        f'placeholder="not known" value="{people}"></label>'
        f'<button>Count</button></div><div id="search" aria-live="polite">{_search(exploration, state)}</div></form>'
    )


def _search(exploration: Exploration, state: State) -> str:
    """How far the search for these choices is, what it found, or the button that begins it."""
    search, leaves_out = exploration.search, state.choice.leaves_out
    few = f"it leaves out at most {percent(Preparing().suppression)} of the people"
    begin = SEARCH.format(few if leaves_out else "it leaves out nobody")
    if search is None or not search.is_of(state.choice):
        return begin
    if search.is_running:
        return STOP.format(escape(search.progress))
    if search.is_stopped:
        return f"<p>The search was stopped.</p>{begin}"
    try:
        is_taken = search.take_over(state.choice) == state.choice
        return f"<p>{escape(search.sentence)}</p>{'' if is_taken else TAKE}{begin}"
    except ReidError as error:
        return f"<p>{escape(str(error))}</p>{begin}"


def _row(exploration: Exploration, choice: Choice, at: int, steps: Sequence[str]) -> str:
    """A column: why its role is proposed, its role, and its form."""
    name, profile = choice.columns[at], exploration.profile[at]
    role = choice.roles[at]
    values = f", {profile['distinct_values']:,} values" if exploration.mask.below == 1 else ""
    roles = _select(f"r{at}", f"{name}: who can know it?", ROLES, ROLES.index(role))
    forms = {OMITTED: "not in it"}.get(role, "as it is")
    if role == KNOWN and len(steps) > 1:
        level = min(choice.levels[at], len(steps) - 1)
        forms = _select(f"l{at}", f"{name}: how exact in the release?", steps, level)
    else:
        forms += f'<input type="hidden" name="l{at}" value="{choice.levels[at]}">'
    if role == KNOWN:
        opened, written = " open" * bool(choice.groups[at]), escape(choice.groups[at])
        forms += (
            f'<details{opened}><summary>own groups</summary><input id="g{at}" name="g{at}" value="{written}" '
            f'aria-label="{escape(name)}: own groups of values" '
            'placeholder="north: a, b; south: c"></details>'
        )
    why = exploration.reasons.get(name, "")
    return (
        f'<tr id="row{at}"><td><strong>{escape(name)}</strong><br><span class="soft">'
        f"{escape(profile['looks_like'])}{values}; {escape(why)}</span></td>"
        f"<td>{roles}</td><td>{forms}</td></tr>"
    )


def _select(name: str, label: str, options: Sequence[str], chosen: int) -> str:
    listed = "".join(
        f'<option value="{at}"{" selected" if at == chosen else ""}>{escape(words)}</option>'
        for at, words in enumerate(options)
    )
    return f'<select id="{name}" name="{name}" aria-label="{escape(label)}">{listed}</select>'


def _answer(exploration: Exploration, state: State) -> str:
    """What is found; a choice that cannot be measured has its refusal in its place."""
    undo = (
        ""
        if state.previous is None
        else f'<p class="undo"><a href="{state.previous}">Undo the last choice</a></p>'
    )
    if state.refusal:
        return f'{undo}<div class="verdict fail">{escape(state.refusal)}</div>'
    if exploration.is_estimated(state.choice):
        estimate = exploration.estimate(state.choice)
        steps = _next_steps(estimate, state.choice.columns)
        return f"{undo}{_estimated(estimate, state.choice)}{steps}"
    answer, choice = exploration.answer(state.choice), state.choice
    first, then = _first(answer, choice), table_section(answer.page, answer.table)
    keep = '<p><button form="choices" name="keep" value="1">Keep this as A, to compare</button></p>'
    if state.kept is not None:
        before = state.kept.choice
        kept = exploration.answer(before)
        shown = table_section(kept.page, kept.table)
        parts = [
            f"<section><h2>A</h2>{_first(kept, before)}{_differences(exploration, before, choice)}{shown}</section>",
            f"<section><h2>Now</h2>{first}{_differences(exploration, choice, before)}{then}</section>",
        ]
        first, then, keep = f'<div class="sides">{"".join(parts)}</div>', "", DROP
    return "".join(
        [
            undo,
            first,
            keep,
            "" if answer.is_whole else COUNT_ALL,
            _cautions(answer, choice),
            _next_steps(answer, choice.columns),
            then,
            "" if state.choice.shows_people or exploration.mask.below > 1 else SHOW_PEOPLE,
            render_checks(answer.page),
            _files(answer, state),
        ]
    )


def _estimated(estimate: Estimate, choice: Choice) -> str:
    """The shares of the people who are alone and in small groups, as drawn rows show them."""
    of = f"of {estimate.rows:,} rows"
    alone = f"{_interval(estimate.alone)} {of} are the only one with their {', '.join(choice.of_role(KNOWN))}."
    gone = " They are left out of the release." if choice.leaves_out else ""
    small = f"{_interval(estimate.small)} {of} look like fewer than {choice.smallest_group - 1:,} others.{gone}"
    more = f"<br>{escape(small)}" if choice.smallest_group > 1 else ""
    return (
        f'<div class="verdict no-worse"><strong>{escape(alone)}</strong>{more}</div>{_private(choice)}'
        f"{COUNT_ROWS.format(estimate.drawn, estimate.rows)}"
    )


def _interval(share: tuple[float, float]) -> str:
    return " to ".join(dict.fromkeys(map(percent, share)))


def _first(answer: Answer, choice: Choice) -> str:
    # a person confirms each column that nothing measures, or chooses again
    unmeasured = _private(choice) + released_columns_section(answer.page)
    return _verdict(answer, choice) + unmeasured


def _differences(exploration: Exploration, choice: Choice, other: Choice) -> str:
    """The choices that are not those of the other side."""
    before = _describe(exploration, other)
    parts = [
        f"{name}: {words}"
        for name, words in _describe(exploration, choice).items()
        if words != before[name]
    ]
    return f'<p class="soft">{escape("; ".join(parts))}</p>'


def _describe(exploration: Exploration, choice: Choice) -> dict[str, str]:
    """Each choice in words."""
    described = dict(zip(choice.columns, choice.roles, strict=True))
    for name, steps in exploration.steps(choice).items():
        described[name] += f", {steps[min(choice.level_of(name), len(steps) - 1)]}"
    return described | {
        "fewest people who look alike": f"{choice.smallest_group:,}",
        "people of smaller groups": "left out" if choice.leaves_out else "in the release",
        "people in the population": f"{choice.population:,}" if choice.population else "not known",
    }


def _verdict(answer: Answer, choice: Choice) -> str:
    """The people who are alone, those in small groups, what is revealed of whom, and the verdict."""
    least = choice.smallest_group
    word, rest = describe_verdict(answer.page)
    sentences = [
        f"People who look like fewer than {least - 1:,} others: {_count(answer.in_small_groups)}."
        if least > 1
        else "",
        *(
            f"People of whom whoever knows this learns {name}: {_count(count)}."
            for name, count in answer.learned.items()
        ),
        f"Rows that are left out: {_count(answer.left_out)}." if choice.leaves_out else "",
        f"{word}:{rest}",
    ]
    listed = "".join(f"<br>{escape(each)}" for each in sentences if each)
    return (
        f'<div class="verdict {css_class(answer.page["verdict"])}">'
        f"<strong>{escape(describe_people_alone(answer.page))}</strong>{listed}</div>"
    )


def _count(count: int | None) -> str:
    return NOT_SHOWN if count is None else f"{count:,}"


def _private(choice: Choice) -> str:
    private = choice.of_role(PRIVATE)
    return (
        f'<div class="verdict no-worse">Not measured: {escape(", ".join(private))}. If anybody outside can '
        "know one of them, the risk is higher.</div>"
        if private
        else ""
    )


def _cautions(answer: Answer, choice: Choice) -> str:
    """What is doubtful, and a button for each kind of doubt that a person settles."""
    checks = answer.page["checks"]
    sentences = dict.fromkeys(chain.from_iterable(check["cautions"] for check in checks))
    codes = dict.fromkeys(chain.from_iterable(check["caution_codes"] for check in checks))
    if not sentences:
        return ""
    listed = "".join(f"<li>{escape(without_codes(each))}</li>" for each in sentences)
    buttons = "".join(
        f"<li>{code}: settled</li>"
        if code in choice.accepted
        else f'<li><button form="choices" name="accept" value="{code}">I have looked at this: {code}</button></li>'
        for code in codes
        if code and code != OK and code not in INFORMATIVE_CODES
    )
    return f'<h2>Cautions</h2><ul>{listed}</ul><ul class="buttons">{buttons}</ul>'


def _next_steps(answer: Answer | Estimate, columns: Sequence[str]) -> str:
    """The next coarser form of each column, the most helpful first, and what it costs."""
    ranked = sorted(answer.next_steps, key=lambda each: (each.small or 0.0, each.loss))
    rows = "".join(
        f"<tr><td>{escape(each.column)}</td><td><button form=choices name=coarser "
        f'value="{columns.index(each.column)}">{escape(each.words)}</button></td>'
        f"<td class=number>{NOT_SHOWN if each.small is None else percent(each.small)}</td>"
        f"<td class=number>{percent(answer.losses[each.column])} → {percent(each.loss)}</td></tr>"
        for each in ranked
    )
    heads = ("column", "one step coarser", "rows then in too small groups", "information lost")
    return f"<h2>What would help most</h2>{render_table(heads, rows, (2, 3))}" if rows else ""


def _files(answer: Answer, state: State) -> str:
    """What a person takes away; of a release that does not pass, its files say so."""
    warning = (
        ""
        if answer.page["exit_code"] == 0
        else "<p><strong>This release does not meet its policy. Its files are for your own checking.</strong></p>"
    )
    links = "".join(
        f'<li><a href="{state.number}/{name}" download>{words}</a></li>'
        for name, words in FILES.items()
    )
    return (
        f"<h2>Take away</h2>{warning}<ul>{links}</ul><p>The address of this page restores these choices while "
        "the command runs.</p>"
    )
