"""A search by the command `prepare` for a choice, in a process of its own: the page goes on answering."""

import csv
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import Final

from reid_sql.errors import UnavailableError
from reid_sql.explore.choice import KNOWN, OMITTED, Choice
from reid_sql.models.numerics.quantiles import percent

MAX_UNSEEN: Final = 90.0  # seconds without a reader; a tab in the background asks once a minute
REFUSED: Final = 2  # the exit code of a refusal, whose sentence is the last line
INTERVAL: Final = 1.0  # seconds between two looks at whether somebody waits
NONE_FOUND: Final = "prepare found no form that meets these choices; settle the cautions, let people be left out, or lower the smallest group. {}"
REFUSAL_TAKE: Final = "the forms to take over must be those that a search found for these choices, got none; search again"
NO_ANSWER: Final = (
    "the search must end with an answer, got none; run reid-sql prepare on the policy of the page"
)
NONE_LEFT: Final = "prepare found only a release that lacks all columns which others can know; let people be left out, or lower the smallest group"


class Search:
    """A search that has begun; it ends by itself, when it is stopped, or when nobody looks any more."""

    def __init__(self, choice: Choice, policy: str, folder: Path, memory_limit: str | None) -> None:
        """Begin; the folder is one to which nobody else has access."""
        self.choice, self.seen, self.is_stopped = choice, monotonic(), False
        # What a process that is killed leaves behind lies there, too.
        self._folder = place = Path(mkdtemp(dir=folder))
        self._rows, self._log = place / "found.csv", place / "progress.txt"
        (place / "policy.toml").write_text(policy, encoding="utf-8")
        call = [sys.executable, "-m", "reid_sql", "prepare", "policy.toml", "--format", "csv"]
        call += ["--progress", *([] if memory_limit is None else ["--memory-limit", memory_limit])]
        here = os.pathsep.join(str(Path(each).absolute()) for each in sys.path)
        places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(place))
        utf8 = {"PYTHONPATH": here, "PYTHONUTF8": "1"}
        with self._rows.open("wb") as rows, self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - this program, with a file that it wrote
                call,
                cwd=place,
                env=os.environ | utf8 | places,
                stdin=subprocess.DEVNULL,
                stdout=rows,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the page, which ends this
            )
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while self.is_running:
            try:
                self._process.wait(INTERVAL)
            except subprocess.TimeoutExpired:
                if monotonic() - self.seen > MAX_UNSEEN:
                    self.stop()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the search, if it has not ended."""
        if self.is_running:
            self.is_stopped = True
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self._folder, ignore_errors=True)

    def is_of(self, choice: Choice) -> bool:
        """Whether the choice differs from the one that is searched for in its forms alone."""
        return choice == replace(
            self.choice,
            levels=choice.levels,
            counts_all=choice.counts_all,
            shows_people=choice.shows_people,
        )

    @property
    def progress(self) -> str:
        """What prepare last reported; with its name, if it refused the table."""
        lines = self._log.read_text("utf-8", "replace").strip().split("\n")
        return lines[-1].removeprefix("reid-sql: ") or "starting"

    @cached_property
    def _found(self) -> Sequence[Mapping[str, str]]:
        """A row for each column that others can know, in order."""
        if self.is_running or self.is_stopped:
            raise UnavailableError(REFUSAL_TAKE)
        with self._rows.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if not rows:
            is_refusal = self._process.returncode == REFUSED
            raise UnavailableError(self.progress if is_refusal else NO_ANSWER)
        if self._process.returncode:
            raise UnavailableError(NONE_FOUND.format(" ".join(json.loads(rows[0]["cautions"]))))
        return rows

    def take_over(self, choice: Choice) -> Choice:
        """The choice with the forms that were found; a column of which nothing is left is left out."""
        if not self.is_of(choice):
            raise UnavailableError(REFUSAL_TAKE)
        roles, levels = list(choice.roles), list(choice.levels)
        for name, row in zip(self.choice.of_role(KNOWN), self._found, strict=True):
            at = choice.columns.index(name)
            levels[at] = int(row["level"])
            roles[at] = OMITTED if _is_left_out(row) else roles[at]
        found = replace(choice, roles=tuple(roles), levels=tuple(levels))
        if not found.of_role(KNOWN):
            raise UnavailableError(NONE_LEFT)
        return found

    @property
    def sentence(self) -> str:
        """What was found, and whether another form could lose less."""
        first = self._found[0]
        forms = [
            f"{row['column']} left out" if _is_left_out(row) else row["form"]
            for row in self._found
            if int(row["level"])
        ]
        share = first["suppressed_share"]  # which a mask hides
        few = percent(float(share)) if share else "not shown"
        left = "" if share == "0.0" else f"Rows left out: {few}. "
        least = (
            "No other form loses less."
            if first["optimal"] == "True"
            else "The search ended early: another form may lose less."
        )
        return f"Found: {'; '.join(forms) or 'every column as it is'}. {left}{least}"


def _is_left_out(row: Mapping[str, str]) -> bool:
    """Whether a column is in its last form, at which every record shows the same."""
    return 0 < int(row["level"]) == len(json.loads(row["hierarchy"])) - 1
