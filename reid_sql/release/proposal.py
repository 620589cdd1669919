"""The hierarchies that `prepare` would use, as TOML that a person edits."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from reid_sql.check import gate
from reid_sql.check.gate import ShowProgress
from reid_sql.check.policy import read_policy
from reid_sql.control_characters import escape_control_characters
from reid_sql.hierarchies.toml import hierarchies_toml
from reid_sql.release.problem import columns_to_generalize, refuse_unsuitable, wish_hierarchies

if TYPE_CHECKING:
    from reid_sql.hierarchies.hierarchy import Hierarchy


def propose_hierarchies(
    policy: str | PathLike[str],
    *,
    memory_limit: str | None = None,
    tell: ShowProgress = lambda _: None,
) -> str:
    """Return the hierarchies of a policy's quasi-identifiers as TOML: those it has, else the proposed ones.

    A column of several tables has that of the first. The text has no value of the data but those that the
    policy or its files name.
    """
    read = read_policy(Path(policy))
    found: dict[str, Hierarchy] = {}
    with gate.open_tables(read, memory_limit, tell) as releases:
        for release in releases:
            refuse_unsuitable(release)
            columns = [name for name in columns_to_generalize(release) if name not in found]
            wished = wish_hierarchies(release, columns, read.preparing) if columns else []
            found |= {each.column: each for each in wished}
    name = escape_control_characters(read.name.replace("\n", " ").replace("\r", " "))
    head = f"# Hierarchies of the policy {name}: edit them, and put them in the policy."
    return f"{head}\n{hierarchies_toml(list(found.values()))}"
