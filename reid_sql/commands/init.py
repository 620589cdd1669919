"""Write a starter policy and a starter scenario for a file, from the profile of its columns."""

import argparse
import re
from pathlib import Path

from reid_sql.commands.measure import describe_profile, profile_columns
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer
from reid_sql.commands.starter import Starter, source_of
from reid_sql.commands.tables import open_file
from reid_sql.errors import OutOfDomainError
from reid_sql.terminal.console import Text


def run_init(options: argparse.Namespace) -> int:
    """Write both documents into the current folder; refuse to replace a file."""
    rows = profile_columns(*open_file(options), [])
    stem = re.sub(r"\W+", "_", Path(options.file).stem) or "table"
    targets = {kind: Path(f"{stem}.{kind}.toml") for kind in ("policy", "scenario")}
    for path in targets.values():
        if path.exists():
            rule = f"init must not replace a file, got '{path}', which exists"
            raise OutOfDomainError(f"{rule}; move it away, or run init in another folder")
    starter = Starter(rows, source_of(options))
    starter.refuse_unknown(options.file)
    page = {kind: str(path) for kind, path in targets.items()}
    texts = {"policy": starter.policy(page["policy"]), "scenario": starter.scenario(page["scenario"])}
    for kind, path in targets.items():
        path.write_text(texts[kind], encoding="utf-8")
    left = "".join(f" Not measured: {', '.join(names)} ({why})." for why, names in starter.unmeasured.items())
    words = (
        f"Wrote {page['policy']} and {page['scenario']}.{left} "
        f"Review them, then: reid-sql check {page['policy']}"
    )
    print_answer(options, page, [page], lambda: Text(words), describe_profile(rows))
    return PASSED
