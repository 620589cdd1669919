"""The risk appetite of an organization, in a file of ACRO 1.0, as rules of tables.

Only what means the same there and here is read; the rest is listed, or refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion
from reid_sql.models.tables.audit import LEAST_COUNT
from reid_sql.reductions.tables import DOMINANCE_RULE, P_SHARE, ROUND_TO

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


def read_risk_appetite(path: str | Path) -> RiskAppetite:
    """Read the thresholds of a risk appetite, YAML, as parameters of safe_table.

    `safe_threshold` is k, `safe_nk_n` and `safe_nk_k` are the dominance rule, `safe_pratio_p` is p_percent,
    `safe_round_base` is base.
    Refuses a key that differs from one of these by a slip.
    """
    rules = _read_yaml(Path(path))
    used = (K, NK_N, NK_K, P_RATIO, ROUND_BASE)
    for key in rules:
        if key not in (*used, *NOT_USED) and get_close_matches(str(key), used, cutoff=NEAR):
            raise UnknownNameError(
                f"the risk appetite must have the keys of ACRO, got '{key}'; {suggestion(str(key), list(used), 'keys')}"
            )
    parameters: dict[str, Any] = {}
    if K in rules:
        parameters["k"] = int(LEAST_COUNT.check(K, _number(K, rules[K])))
    if (NK_N in rules) != (NK_K in rules):
        missing, other = (NK_N, NK_K) if NK_K in rules else (NK_K, NK_N)
        raise OutOfDomainError(
            f"the risk appetite must have both {other} and {missing}, got one; add {missing}"
        )
    if NK_N in rules:
        parameters["dominance"] = [
            float(DOMINANCE_RULE.each.check(name, _number(name, rules[name])))
            for name in (NK_N, NK_K)
        ]
    if P_RATIO in rules:
        parameters["p_percent"] = float(P_SHARE.check(P_RATIO, _number(P_RATIO, rules[P_RATIO])))
    if ROUND_BASE in rules:
        parameters["base"] = int(ROUND_TO.check(ROUND_BASE, _number(ROUND_BASE, rules[ROUND_BASE])))
    not_used = {str(key): NOT_USED.get(key, UNKNOWN_KEY) for key in rules if key not in used}
    return RiskAppetite(parameters, not_used)


def _number(name: str, value: Any) -> float:  # noqa: ANN401 - as YAML has it
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutOfDomainError(
            f"{name} must be a number, got {type(value).__name__}; write it with digits, such as 10"
        )
    return float(value)


def _read_yaml(path: Path) -> dict[Any, Any]:
    if find_spec("yaml") is None:
        raise UnavailableError(
            f"a risk appetite must be read by PyYAML, which is not installed, got {path.name}; run pip install 'reid-sql[acro]'"
        )
    import yaml  # noqa: PLC0415 - optional

    try:
        parsed = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UnavailableError(
            f"the risk appetite must be a file that can be read, got {path.name}: {error.strerror}; pass the path of a YAML file"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        parsed = None
    if not isinstance(parsed, dict):
        raise OutOfDomainError(
            f"the risk appetite must be YAML with a key and a value a line, got another text in {path.name}; write it like safe_threshold: 10"
        )
    return parsed
