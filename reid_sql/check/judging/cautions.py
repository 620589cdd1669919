"""What is to be said beside a figure: not measured, estimated with a doubt, or a limit that all pass."""

from collections.abc import Iterator
from typing import Final

from reid_sql.check.judging.finding import Baseline, Checked
from reid_sql.check.judging.masking import few_masked, round_above
from reid_sql.check.policy.policy import Check
from reid_sql.models.classes.disclosure import OK

OF_ONE: Final = "of some groups of fewer records there are cautions, too"
ALWAYS_MET: Final = {"threshold": 1, "t": 1, "alpha": 1}  # thresholds that no record and no class can exceed


def cautions_of(each: Checked, records: int, below: int, baseline: Baseline | None) -> list[str]:
    """Give the cautions of a check, each once, without small counts."""
    found = [*_passes_anything(each.check), *_dropped(each, records, below)]
    for finding in each.findings:
        figure = finding.figure
        said = [figure.status] if figure.status != OK and figure.value is not None else []
        few = bool(figure.group.values) and figure.group.records < below
        found += (
            [OF_ONE] * bool(said) if few else [few_masked(words, below) for words in (*said, *figure.remarks)]
        )
        found += [few_masked(words, below) for words in figure.hints]
        if finding.baseline is not None and baseline and baseline.caution:
            found.append(baseline.caution)
    return list(dict.fromkeys(found))


def _dropped(each: Checked, records: int, below: int) -> Iterator[str]:
    """Say how many records lack a value and were not measured."""
    dropped = sum(finding.figure.dropped for finding in each.findings)
    if not dropped:
        return
    left = records - dropped
    told = f"fewer than {below}" if dropped < below else f"{dropped:,}"
    if 0 < left < below:
        told = f"all but fewer than {below}"
    elif dropped >= below and not all(finding.figure.told for finding in each.findings):
        told = f"fewer than {round(round_above(dropped / records, records, below) * records):,}"
    listed = ", ".join(each.check.counted)
    yield f"{told} of {records:,} records lack a value of {listed} and were not measured"


def _passes_anything(check: Check) -> Iterator[str]:
    """Say where no figure could break the limit."""
    measure, limit = check.measure, check.limit
    if limit is not None and not check.no_worse:
        least = measure.at_least and limit <= 1
        most = measure.unit == "share" and not measure.at_least and limit >= 1
        if least or most:
            yield f"the limit {measure.bound.replace('_', ' ')} {limit:g} is met by any table"
    for name, value in ALWAYS_MET.items():
        if (
            name in check.parameters
            and check.parameters[name] is not None
            and check.parameters[name] >= value
        ):
            yield f"{name} = {check.parameters[name]:g} is exceeded by no record"
    if check.parameters.get("l", 2) is not None and check.parameters.get("l", 2) <= 1:
        yield f"l = {check.parameters['l']:g} is met by any class"
