"""A case, its runs, and whether they met the target."""

from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from benchmarks.speed.measure import Figures, Job, measure
from benchmarks.speed.spill import SPILLED

ALLOWED: Final = (
    1.05  # times the rival's peak of memory; see the section on noise for what one query varies by
)
OUT_OF_MEMORY: Final = (
    "OutOfMemoryException",
    "MemoryError",
    "BrokenProcessPool",
)  # the last one: killed by the system
Spread: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class Case:
    """What to measure: our side, the rival's if there is one, and the targets."""

    section: str
    words: str
    ours: Job
    rival: Job | None = None
    # a number: at most so many times the rival's seconds
    target: float | Literal["completes"] | None = None
    cpu_target: float | None = None  # our own seconds of processor time, whatever the rival takes
    memory: bool = False  # a target too: no more memory than the rival
    table: str | None = None  # generated table that the jobs read
    skipped: str | None = None  # the reason why not


@dataclass(frozen=True)
class Outcome:
    """The runs of a case in pairs, ours first; a rival's list stays empty where there is none."""

    case: Case
    ours: list[Figures]
    rivals: list[Figures]
    failure: str | None = None

    @property
    def ratio(self) -> Spread | None:
        """Our seconds over the rival's, pair by pair: median, least, most."""
        return self._ratio("seconds")

    @property
    def cpu_ratio(self) -> Spread | None:
        """Our processor time over the rival's, pair by pair: median, least, most."""
        return self._ratio("cpu_seconds")

    @property
    def memory_ratio(self) -> Spread | None:
        """Our peak of memory over the rival's, pair by pair: median, least, most."""
        return self._ratio("peak_mb")

    def _ratio(self, figure: str) -> Spread | None:
        pairs = zip(self.ours, self.rivals, strict=False)
        ratios = [getattr(mine, figure) / getattr(other, figure) for mine, other in pairs]
        return (median(ratios), min(ratios), max(ratios)) if ratios else None

    @property
    def cpu_seconds(self) -> float:
        """Our processor time: the median."""
        return median(run.cpu_seconds for run in self.ours)

    @property
    def is_error(self) -> bool:
        """Whether the run itself went wrong: a mismatch, or a failure other than the memory on trial.

        The want of memory was on trial.
        """
        on_trial = self.case.target == "completes" and (self.failure or "").startswith(
            OUT_OF_MEMORY
        )
        return self.failure is not None and not on_trial

    @property
    def verdict(self) -> str:
        """Met, missed (and in what), skipped or failed (and why), or nothing where there is no target."""
        if self.case.skipped:
            return f"skipped: {self.case.skipped}"
        if self.failure:
            return f"{'failed' if self.is_error else 'missed'}: {self.failure}"
        missed = self._missed()
        has_none = self.case.target is None and self.case.cpu_target is None
        verdict = f"missed: {', '.join(missed)}" if missed else "" if has_none else "met"
        spilled = max((run.answer.get(SPILLED, 0) for run in self.ours), default=0)
        return f"{verdict}, {spilled} MB spilled" if self.case.target == "completes" else verdict

    def _missed(self) -> list[str]:
        target, time, memory = self.case.target, self.ratio, self.memory_ratio
        slow = ["time"] if time and isinstance(target, float) and time[0] > target else []
        if self.case.cpu_target is not None and self.cpu_seconds > self.case.cpu_target:
            slow.append("processor time")
        large = (
            [f"memory {memory[0]:.2f}"]
            if memory and self.case.memory and memory[0] > ALLOWED
            else []
        )
        return slow + large


def compare(case: Case, repeat: int) -> Outcome:
    """Measure ours, the rival's, ours, the rival's, …; both must answer the same."""
    outcome = Outcome(case, [], [])
    try:
        for _ in range(0 if case.skipped else repeat):
            outcome.ours.append(measure(case.ours))
            if case.rival:
                outcome.rivals.append(measure(case.rival))
                _agree(outcome.ours[-1].answer, outcome.rivals[-1].answer)
    except RuntimeError as error:
        return Outcome(case, outcome.ours, outcome.rivals, str(error).partition("\n")[0])
    return outcome


def _agree(ours: dict[str, int], rival: dict[str, int]) -> None:
    if {**ours, SPILLED: 0} != {**rival, SPILLED: 0}:
        raise RuntimeError(f"both sides must give the same answer, got {ours} and {rival}")
