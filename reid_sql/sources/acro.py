"""The risk appetite of an organization, in a file of ACRO 1.0, as rules of tables.

Only what means the same there and here is read; the rest is listed, or refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.models.tables.audit import LEAST_COUNT
from reid_sql.parameters import Number
from reid_sql.reductions.tables import DOMINANCE_RULE, P_SHARE, ROUND_TO
from reid_sql.sources.other_programs import read_mapping

K, NK_N, NK_K, P_RATIO = "safe_threshold", "safe_nk_n", "safe_nk_k", "safe_pratio_p"
ROUND_BASE: Final = "safe_round_base"
NOT_USED: Final[Mapping[str, str]] = {
    "safe_dof_threshold": "of regressions",
    "survival_safe_threshold": "of survival tables",
    "check_missing_values": "NULL is a category here",
    "zeros_are_disclosive": "see zeros := 'list'",
    "federated": "of sites that share evidence",
    "blocked_extensions": "of other files",
}
DOMAINS: Final[Mapping[str, Number]] = {  # of the keys that are read
    K: LEAST_COUNT,
    NK_N: DOMINANCE_RULE.each,
    NK_K: DOMINANCE_RULE.each,
    P_RATIO: P_SHARE,
    ROUND_BASE: ROUND_TO,
}
UNKNOWN_KEY: Final = "no rule of tables is known by it"
NEAR: Final = 0.8  # likeness of two names above which one is the other with a slip


@dataclass(frozen=True)
class RiskAppetite:
    """Parameters of safe_table from a file, and the keys of the file that none of them corresponds to."""

    parameters: dict[str, Any]
    not_used: dict[str, str]  # by key, the reason

    def summary(self) -> str:
        """Say what was read and what was not, in a sentence each."""
        read = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        unread = ", ".join(f"{key} ({reason})" for key, reason in self.not_used.items())
        lines = [f"Rules of the risk appetite: {read or 'none'}."]
        return " ".join([*lines, *([f"Not used: {unread}."] if unread else [])])


def _refuse_slips(rules: Mapping[Any, Any]) -> None:
    """Refuse a key that differs from a known one by a slip, and one half of the dominance rule."""
    for key in rules:
        is_unknown = key not in DOMAINS and key not in NOT_USED
        if is_unknown and get_close_matches(str(key), DOMAINS, cutoff=NEAR):
            raise UnknownNameError(
                f"the risk appetite must have the keys of ACRO, got '{key}'; {suggestion(str(key), list(DOMAINS), 'keys')}"
            )
    if (NK_N in rules) != (NK_K in rules):
        missing, other = (NK_N, NK_K) if NK_K in rules else (NK_K, NK_N)
        raise OutOfDomainError(
            f"the risk appetite must have both {other} and {missing}, got one; add {missing}"
        )


def read_risk_appetite(path: str | Path) -> RiskAppetite:
    """Read the thresholds of a risk appetite, YAML, as parameters of safe_table.

    `safe_threshold` is k, `safe_nk_n` and `safe_nk_k` are the dominance rule, `safe_pratio_p` is p_percent,
    `safe_round_base` is base.
    Refuses a key that differs from one of these by a slip.
    """
    rules = read_mapping(Path(path), "the risk appetite", "safe_threshold: 10")
    _refuse_slips(rules)
    numbers = {
        key: domain.check(key, _number(key, rules[key]))
        for key, domain in DOMAINS.items()
        if key in rules
    }
    parameters: dict[str, Any] = {}
    if K in numbers:
        parameters["k"] = int(numbers[K])
    if NK_N in numbers:
        parameters["dominance"] = [float(numbers[NK_N]), float(numbers[NK_K])]
    if P_RATIO in numbers:
        parameters["p_percent"] = float(numbers[P_RATIO])
    if ROUND_BASE in numbers:
        parameters["base"] = int(numbers[ROUND_BASE])
    not_used = {str(key): NOT_USED.get(key, UNKNOWN_KEY) for key in rules if key not in DOMAINS}
    return RiskAppetite(parameters, not_used)


def _number(name: str, value: Any) -> float:  # noqa: ANN401 - as YAML has it
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutOfDomainError(
            f"{name} must be a number, got {type(value).__name__}; write it with digits, such as 10"
        )
    return float(value)
