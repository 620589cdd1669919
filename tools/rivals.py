"""The comparison with other tools: its page, and which of them have a newer version than was read.

python -m tools.rivals
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "comparison.md"
RIVALS: Final = ROOT / "docs" / "rivals.toml"
TABLE: Final = re.compile(r"(?ms)^\| tool \|.*?(?=^$|\Z)")
PYPI: Final = "pypi:"
LATEST: Final = re.compile(r"\((\S+)\)")  # of pip index versions, in its first line
Rival = Mapping[str, Any]


def read_rivals() -> list[Rival]:
    """Read docs/rivals.toml."""
    listed: list[Rival] = tomllib.loads(RIVALS.read_text(encoding="utf-8"))["rivals"]
    return listed


def page() -> str:
    """Write the table of docs/comparison.md anew."""
    rows = [_row(each) for each in read_rivals()]
    head = ["| tool | only the tool | only reid-sql |", "| --- | --- | --- |"]
    return TABLE.sub(lambda _: "\n".join([*head, *rows]) + "\n", PAGE.read_text(encoding="utf-8"))


def _row(rival: Rival) -> str:
    name = f"[{rival['name']}]({rival['url']})" if "url" in rival else rival["name"]
    version = f" {rival['version']}" if "version" in rival else ""
    when = f"{'named' if rival.get('named') else 'read'} {rival['date']}"
    described = "; ".join(filter(None, [rival.get("kind", ""), when]))
    return f"| {name}{version} ({described}) | {rival['theirs']} | {rival['ours']} |"


def list_newer(rivals: Sequence[Rival]) -> list[str]:
    """List the tools of the Python index whose newest version is not the one that was read."""
    lines = []
    for each in rivals:
        if str(each.get("package", "")).startswith(PYPI):
            newest, known = ask_index(each["package"].removeprefix(PYPI)), each.get("version")
            if newest != known:
                lines.append(f"{each['name']}: read {known or 'without a version'}, index {newest}")
    return lines


def ask_index(package: str) -> str:
    """Ask pip for the newest version; without a network, say so."""
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = LATEST.search(answer.stdout)
    return found[1] if found else "not reachable"


if __name__ == "__main__":
    for line in list_newer(read_rivals()):
        print(line)  # noqa: T201 - what was asked
    print("Tools without a package of the Python index are read by hand: see source.")  # noqa: T201
