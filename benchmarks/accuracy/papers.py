"""The figures of the papers beside ours: `python -m benchmarks.accuracy.papers PART FILE`.

persons FILE FIRST LAST   adult's populations FIRST to LAST - 1 of 50, about 12 s each
sizes FILE                standard deviations and small samples, about 5 minutes
curves FILE COUNT CORPUS...   fits and ranks of so many tables of each corpus, about 7 s each
divergence FILE           divergence of the copula from adult
store FILE...             write what the files show to papers.json
page                      write docs/papers.md
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.accuracy import papers_2019, papers_2025, papers_summary
from benchmarks.accuracy.corpora import ROOT
from benchmarks.accuracy.papers_page import STORED, stored_page

PAGE: Final = ROOT / "docs" / "papers.md"
DIGITS: Final = 5


def main(part: str, *arguments: str) -> None:
    """Run one part."""
    if part == "page":
        PAGE.write_text(stored_page(), encoding="utf-8")
    elif part == "store":
        STORED.write_text(json.dumps(store(arguments), indent=1) + "\n", encoding="utf-8")
    else:
        file, *rest = arguments
        text = json.dumps({part: list(PARTS[part](*rest))}, default=_as_plain)
        Path(file).write_text(text, encoding="utf-8")


def measure_persons(first: str, last: str) -> Iterable[Any]:
    """Populations of adult, and persons outside the sample."""
    for population in papers_2019.populations()[int(first) : int(last)]:
        yield papers_2019.measure(population)


def measure_sizes() -> Iterable[Any]:
    """Small samples and repeated samples."""
    for population in papers_2019.populations()[: papers_2019.REPEATED]:
        yield papers_2019.measure_sizes(population)


def measure_divergence() -> Iterable[Any]:
    """Divergence of the copula from adult."""
    for population in papers_2019.populations():
        yield papers_2019.measure_divergence(population)


def measure_curves(count: str, *corpora: str) -> Iterable[Any]:
    """Datasets of corpora."""
    for corpus in corpora:
        yield from papers_2025.measure_corpus(corpus, int(count))


PARTS: Final[Mapping[str, Callable[..., Iterable[Any]]]] = {
    "persons": measure_persons,
    "sizes": measure_sizes,
    "divergence": measure_divergence,
    "curves": measure_curves,
}


def store(files: Iterable[str]) -> dict[str, Any]:
    """Summaries of all that the files contain."""
    raw: dict[str, list[Any]] = {part: [] for part in PARTS}
    for file in files:
        for part, found in json.loads(Path(file).read_text(encoding="utf-8")).items():
            raw[part] += found
    found = {
        "persons": papers_summary.summarize_persons(raw["persons"]),
        "sizes": papers_summary.summarize_sizes(raw["sizes"]),
        "divergence": papers_summary.summarize_divergence(raw["divergence"]),
        "interactions": papers_summary.summarize_interactions(papers_2019.interactions()),
        "replaced": papers_2019.replace_values(),
        "curves": papers_2025.summarize(raw["curves"]),
        "closed": papers_2025.closed_forms(),
    }
    return {name: _rounded(each) for name, each in found.items()}


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(type(value).__name__)


def _rounded(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {name: _rounded(each) for name, each in found.items()}
    if isinstance(found, list):
        return [_rounded(each) for each in found]
    return round(found, DIGITS) if isinstance(found, float) else found


if __name__ == "__main__":
    main(*sys.argv[1:])
