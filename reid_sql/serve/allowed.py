"""What a statement may consist of: the lists of allowed.toml, and the refusal of everything else."""

import tomllib
from pathlib import Path
from typing import Any, Final, NoReturn

from reid_sql.errors import OutOfDomainError
from reid_sql.serve.tree import Node, path_of, type_of

ALLOWED: Final = tomllib.loads(Path(__file__).with_name("allowed.toml").read_text("utf-8"))
TABLE_FUNCTIONS: Final = frozenset(ALLOWED["table_functions"].split())
KEYS: Final = frozenset(ALLOWED["keys"].split())
CATALOGUE: Final = frozenset(ALLOWED["catalogue"].split())
CATALOGUE_FUNCTIONS: Final = frozenset(ALLOWED["catalogue_functions"].split())
# not written
EMPTY: Final[tuple[Any, ...]] = (None, "", [], {}, False, "WITHOUT_ORDINALITY", "ROW_COUNT")
REMEDY: Final = "write SELECT sex, count(*) FROM people GROUP BY sex, or FROM reid.help() for more"
REMEDY_FUNCTION: Final = "call count, sum, min, max, avg, round, … or reid.pyc_share"
PLACES: Final[tuple[list[str], ...]] = ([], ["reid"], ["reid", "main"])  # of reid-sql's functions
UNDECLARED: Final = "what it returns is not declared"


def refuse_unknown(part: Node) -> None:
    """Refuse what is not in allowed.toml."""
    kind = part.get("type", "EMPTY")
    allowed = KEYS.union(ALLOWED["keys_of"].get(str(kind), "").split())
    unknown = sorted(key for key, each in part.items() if key not in allowed and each not in EMPTY)
    is_known = kind in ALLOWED["nodes"].split()
    if not is_known or unknown:
        got = str(unknown[0] if is_known else kind).lower().replace("_", " ")
        raise OutOfDomainError(
            f"a statement must only select from answers, got the part '{got}'; {REMEDY}"
        )


def check_function(part: Node) -> None:
    """Refuse a function that is not among those of SELECT."""
    *places, name = path_of(part, "function_name")
    is_ours = places in PLACES[1:] and name.lower() in ALLOWED["value_functions"].split()
    if not is_ours and (
        places not in ([], ["main"]) or name.lower() not in ALLOWED["functions"].split()
    ):
        raise OutOfDomainError(
            f"a statement must call plain functions in SELECT, got {'.'.join([*places, name])}; "
            f"{REMEDY_FUNCTION}"
        )


def check_type(part: Node) -> None:
    """Refuse a cast to a type that is not plain."""
    if type_of(part) not in ALLOWED["types"].split():
        raise OutOfDomainError(
            "a cast must be to a plain type, got another; cast to BIGINT, DOUBLE, VARCHAR or DATE"
        )


def refuse_records(key: str, call: str) -> NoReturn:
    """Refuse what may not leave; what is declared nowhere may not."""
    why, other = ALLOWED["refused"].get(key, (UNDECLARED, "risk_summary"))
    raise OutOfDomainError(f"a function must return no records, got {call} ({why}); call {other}")
