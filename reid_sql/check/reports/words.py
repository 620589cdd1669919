"""The words of a report, the same on the terminal, in JUnit and in HTML."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.check.judging.finding import ORDER
from reid_sql.screen import number

Check = Mapping[str, Any]
VERDICTS: Final = {
    "pass": "PASS: every check is within its limit.",
    "no worse": "PASS: some checks are beyond their limit, but none is worse than in the baseline.",
    "fail": "FAIL: the policy is not met.",
    "not judged": "NOT JUDGED: what could not be measured is no pass.",
}


def telling(check: Check) -> Mapping[str, Any]:
    """Give the group that decides: of the worst verdict, the one of the highest risk."""
    sign = 1 if check["bound"] == "at_least" else -1
    found = [group for group in check["groups"] if group["verdict"] == check["verdict"]]
    return min(found, key=lambda group: sign * (_shown(group) or 0.0))


def _shown(group: Mapping[str, Any]) -> float | None:
    found: float | None = group["judged"] if group["judged"] is not None else group["below"]
    return found


def asked(check: Check) -> str:
    """Name the measure with the parameters that make it, and the groups it is held to."""
    told = [
        f"{name} {value['name'] if isinstance(value, Mapping) else _plain(value)}"
        for name, value in check["parameters"].items()
        if name in SHOWN
    ]
    by = f" by {', '.join(check['by'])}" if check["by"] else ""
    sensitive = f" of {check['sensitive']}" if check["sensitive"] else ""
    listed = f" ({', '.join(told)})" if told else ""
    return f"{check['measure']}{sensitive}{listed}{by}"


SHOWN: Final = ("population", "threshold", "scenario", "risk", "method", "prior", "variant", "p")


def _plain(value: Any) -> str:  # noqa: ANN401 - a parameter of any kind
    return f"{value:,.10g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def figure(group: Mapping[str, Any]) -> str:
    """Write a figure with its interval, or below which it lies, or that there is none."""
    if group["below"] is not None:
        return (
            f"below {_plain(group['below']) if isinstance(group['below'], int) else number(group['below'])}"
        )
    if group["value"] is None:
        return "no answer"
    ends = f" [{number(group['low'])}, {number(group['high'])}]" if group["low"] is not None else ""
    return f"{_plain(group['value']) if isinstance(group['value'], int) else number(group['value'])}{ends}"


def limit(check: Check) -> str:
    """Write the limit."""
    told = [] if check["limit"] is None else [f"{check['bound'].replace('_', ' ')} {_plain(check['limit'])}"]
    return ", ".join([*told, *(["no worse"] if check["no_worse"] else [])])


def counts(page: Mapping[str, Any]) -> dict[str, int]:
    """Count the checks by verdict, worst first."""
    verdicts = [check["verdict"] for check in page["checks"]]
    return {verdict: verdicts.count(verdict) for verdict in ORDER}


def sentence(page: Mapping[str, Any]) -> str:
    """Say the verdict and how many checks came out how."""
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts(page).items() if count)
    return f"{VERDICTS[page['verdict']]} {told}."


@dataclass(frozen=True)
class Note:
    """The group that decided a check, and what there is to say of it."""

    group: Mapping[str, Any]
    words: str


def note(check: Check) -> Note:
    """Say which group decided, and why, where there is something to say."""
    found = telling(check)
    parts = []
    if check["by"]:
        alike = sum(group["verdict"] == check["verdict"] for group in check["groups"])
        label = (
            ", ".join(f"{k} = {'NULL' if v is None else v}" for k, v in (found["group"] or {}).items())
            or "a small group"
        )
        parts.append(f"{alike:,} of {len(check['groups']):,} groups; {label}")
    words = found["why"] if check["verdict"] != "fail" or found["baseline"] is not None else ""
    caution = found["status"] if found["status"] not in ("ok", found["why"]) else ""
    return Note(found, "; ".join(part for part in (*parts, words, caution) if part))
