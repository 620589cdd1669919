import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.evidence import CLASS_SIZE, PAIR, VALUE, EvidenceRow, rows_from_tuples
from reid_sql.models.population import classical_estimators, pitman, population_uniqueness
from reid_sql.models.population.classical_estimators import Estimate
from reid_sql.models.population.population_uniqueness import (
    METHODS,
    Method,
    UniquenessEvidence,
    estimate_by_methods,
)
from reid_sql.models.population_risk.shares import STATUS_COUNTED
from reid_sql.models.pyc import pitman_yor_forecast
from tests.cells import each_cell
from tests.histograms import CLASSES

# All methods on any histogram: a share or a reason, and the truth where the sample is the population. Huge
# histograms are among them; the truth is counted.


def evidence(classes: dict[int, int]) -> UniquenessEvidence:
    size, count = np.array(list(classes)), np.array(list(classes.values()))
    return UniquenessEvidence(size, np.log(size * 0.7), count)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("pitman", pitman.STATUS_COVERAGE),
        ("loglinear_nb", population_uniqueness.STATUS_PARAMETRIC),
        ("pyc", pitman_yor_forecast.STATUS_COVERAGE),
        ("pyc, κ", "outside_interval"),  # of which the page of statuses has the figures
        ("pyc, V_5", "outside_interval"),
    ],
)
def test_a_status_tells_what_the_page_says_was_measured(root: Path, row: str, message: str) -> None:
    """Held, of how many, truths below and above the intervals: the sums over the fractions."""
    page = (root / "docs" / "population_uniqueness.md").read_text(encoding="utf-8")
    table = page.partition("true values below, above")[2]
    line = table.partition(f"\n| {row} | ")[2].partition("\n")[0]
    cells = re.findall(r"(\d+) of (\d+); (\d+), (\d+)", line)
    contained, cases, below, above = (sum(map(int, column)) for column in zip(*cells, strict=True))
    assert contained + below + above == cases
    statuses = (root / "docs" / "statuses.md").read_text(encoding="utf-8")
    [listed] = re.findall(rf"^\| `{message.partition(':')[0]}` .*$", statuses, re.MULTILINE)
    one_sided = rf"in {below}( of {cases} samples, above| and above it| and above) in {above}\b|{below} and {above}\b"
    assert re.search(
        rf"only {contained} of {cases} |{one_sided}", message if ":" in message else listed
    )


@given(CLASSES)
def test_a_whole_population_is_counted(classes: dict[int, int]) -> None:
    records = sum(size * count for size, count in classes.items())
    for row in estimate_by_methods(evidence(classes), records):
        assert (row.uniqueness, row.uniqueness_low, row.uniqueness_high) == (
            classes.get(1, 0) / records,
        ) * 3
        assert row.status == STATUS_COUNTED


def test_class_sizes_alone_do_not_fit_a_model_of_people() -> None:
    row = estimate_by_methods(evidence({1: 5, 2: 3}), 1_000, "people")[0]
    assert (row.uniqueness, row.unique_records, row.uniqueness_high) == (None, None, None)
    assert row.status.startswith("class_sizes_only: ")


def test_refusals() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="population must be at least the 5 records of the sample, got 4; pass the size",
    ):
        estimate_by_methods(evidence({1: 5}), 4)
    with pytest.raises(NoRecordsError):
        estimate_by_methods(evidence({}), 4)


@pytest.mark.parametrize(
    "lines", [([1], [0.3], [9]), ([1, 4], [1.0, 4.0], [5, 2])], ids=["all unique", "one column"]
)
def test_no_log_linear_model_is_fitted_to_what_it_would_repeat(
    lines: tuple[list[int], list[float], list[int]],
) -> None:
    sizes, expected, classes = lines
    for row in estimate_by_methods(
        UniquenessEvidence(np.array(sizes), np.log(expected), np.array(classes)), 1_000
    ):
        if row.method.startswith("loglinear"):
            assert (row.uniqueness, row.status) == (
                None,
                population_uniqueness.STATUS_LOGLINEAR_NOT_FITTED,
            )


def one(share: float | None) -> Estimate:
    return Estimate(share, None, None, "ok" if share is not None else "none")


@pytest.mark.parametrize(
    ("fraction", "pitman", "snb", "zayatz", "chosen"),
    [
        (0.1, 0.3, 0.2, 0.1, "by pitman"),
        (0.1, None, 0.2, 0.1, "by zayatz"),
        (0.2, 0.3, 0.1, 0.2, "by snb"),
        (0.2, 0.3, 0.2, 0.1, "by zayatz"),
        (0.2, 0.3, None, 0.1, "by zayatz"),
    ],
)
def test_the_rule_of_dankar(
    fraction: float, pitman: float | None, snb: float | None, zayatz: float, chosen: str
) -> None:
    of = {"pitman": lambda: one(pitman), "snb": lambda: one(snb), "zayatz": lambda: one(zayatz)}
    status = classical_estimators.choose_by_dankar(fraction, of).status
    assert status == f"{chosen}: the rule of Dankar et al. takes the estimate of {chosen[3:]}"


def test_a_tenth_that_was_rounded_up_to_whole_records_is_a_tenth() -> None:
    classes = {1: 3_000, 2: 100, 57: 1}  # 3,257 records of 32,561 people
    rows = {row.method: row for row in estimate_by_methods(evidence(classes), 32_561)}
    assert rows["dankar"].status.startswith("by pitman")
    assert rows["dankar"].uniqueness == rows["pitman"].uniqueness
    beyond = {row.method: row for row in estimate_by_methods(evidence({**classes, 58: 1}), 32_561)}
    assert beyond["dankar"].status.startswith(("by snb", "by zayatz"))


def test_the_interval_of_loglinear_nb_holds_what_follows_the_model() -> None:
    rng, contained = np.random.default_rng(4), 0
    for _ in range(40):
        expected = rng.gamma(0.5, 4.0, 20_000)
        people = rng.poisson(10 * expected * rng.gamma(0.8, 1 / 0.8, expected.size))
        seen = rng.binomial(people, 0.1)
        lines = UniquenessEvidence(
            seen[seen > 0], np.log(expected[seen > 0]), np.ones((seen > 0).sum(), dtype=np.int64)
        )
        row = estimate_by_methods(lines, float(people.sum()), "loglinear_nb")[0]
        assert row.uniqueness_low is not None
        assert row.uniqueness_high is not None
        contained += row.uniqueness_low <= (people == 1).sum() / people.sum() <= row.uniqueness_high
    assert contained >= 34


def test_where_counts_are_as_good_as_poisson_there_is_an_interval_too() -> None:
    rng = np.random.default_rng(6)
    expected = rng.gamma(0.5, 4.0, 2_000)
    seen = rng.poisson(expected)
    lines = UniquenessEvidence(
        seen[seen > 0], np.log(expected[seen > 0]), np.ones((seen > 0).sum(), dtype=np.int64)
    )
    row = estimate_by_methods(lines, 10 * float(seen.sum()), "loglinear_nb")[0]
    assert row.uniqueness_low is not None
    assert row.uniqueness_high is not None
    assert row.uniqueness_low <= (row.uniqueness or 0) <= row.uniqueness_high
    assert row.status.startswith(population_uniqueness.STATUS_PARAMETRIC)


# Every estimator of population uniqueness under the same trials. Whatever joins the table of methods is put
# through them.

SAMPLES = {
    "all unique": {1: 40},
    "all alike": {40: 1},
    "pairs alone": {2: 20},
    "many sizes": {1: 60, 2: 25, 3: 12, 5: 6, 9: 3, 20: 1},
    "hardly unique": {1: 2, 30: 8},
}
GROWTH = [1.0, 1.01, 2.0, 5.0, 9.9, 10.0, 30.0, 1e3, 1e6]


def evidence_of_sizes(classes: dict[int, int]) -> UniquenessEvidence:
    """Classes whose expected counts vary, and two columns whose pairs make them up, for a copula.

    The columns are ten values wide; each pair of values is a class.
    """
    sizes = np.repeat(list(classes), list(classes.values()))
    expected = np.log(sizes * np.random.default_rng(0).uniform(0.4, 1.6, len(sizes)))
    one, other = np.divmod(np.arange(len(sizes)), 10)
    rows = [
        EvidenceRow(CLASS_SIZE, class_size=int(n), log_expected=float(log), records=int(n))
        for n, log in zip(sizes, expected, strict=True)
    ]
    for number, (name, values) in enumerate((("a", one), ("b", other)), 1):
        counts = enumerate(np.bincount(values, sizes).tolist())
        rows += [
            EvidenceRow(VALUE, number, 0, name, str(v), records=int(n), weight=n)
            for v, n in counts
            if n
        ]
    rows += [
        EvidenceRow(PAIR, 1, 2, None, str(a), str(b), records=int(n), weight=float(n))
        for a, b, n in zip(one, other, sizes, strict=True)
    ]
    return UniquenessEvidence.from_rows(rows_from_tuples(rows))


@pytest.fixture(params=list(METHODS))
def method(request: pytest.FixtureRequest) -> Method:
    name: Method = request.param
    return name


def test_nothing_is_refused(method: Method) -> None:
    nobody = np.zeros(0, dtype=np.int64)
    with pytest.raises(NoRecordsError, match="the table must contain at least one record"):
        METHODS[method](UniquenessEvidence(nobody, nobody.astype(np.float64), nobody), 100.0)


def test_a_population_below_the_sample_is_refused(method: Method) -> None:
    with pytest.raises(
        OutOfDomainError, match="population must be at least the 40 records of the sample, got 39"
    ):
        METHODS[method](evidence_of_sizes(SAMPLES["all unique"]), 39.0)


@each_cell("sample", SAMPLES)
def test_a_population_that_is_the_sample_is_counted(method: Method, sample: str) -> None:
    classes = SAMPLES[sample]
    people = sum(size * count for size, count in classes.items())
    row = estimate_by_methods(evidence_of_sizes(classes), people, method)[0]
    assert (row.uniqueness, row.uniqueness_low, row.uniqueness_high) == (
        classes.get(1, 0) / people,
    ) * 3
    assert row.status == STATUS_COUNTED


@each_cell("sample", SAMPLES)
@pytest.mark.first(cells=1)
def test_there_is_a_share_within_its_interval_or_a_reason(method: Method, sample: str) -> None:
    reported = evidence_of_sizes(SAMPLES[sample])
    for growth in GROWTH[1:]:
        found = METHODS[method](reported, 40 * 20 * growth)
        assert found.status
        if found.uniqueness is None:
            assert found.status != "ok"
            continue
        assert 0 <= found.uniqueness <= 1
        for end, sign in ((found.low, 1), (found.high, -1)):
            assert end is None or sign * (found.uniqueness - end) >= -1e-12
            assert end is None or 0 <= end <= 1
        assert (found.low is not None and found.high is not None) or found.status != "ok"


# Where a method begins to fall: `dankar` takes another estimator up to a tenth, and `pyc` keeps the sample's
# own classes, so that the first to come may be unique where hardly anybody of the sample is.
FALLS_FROM = {"dankar": 10.0, "pyc": 2.0}


@each_cell("sample", SAMPLES)
@pytest.mark.first(cells=1)
def test_more_people_never_make_a_larger_share_unique(method: Method, sample: str) -> None:
    reported = evidence_of_sizes(SAMPLES[sample])
    records = int(reported.histogram.records.sum())
    populations = [
        float(round(records * growth)) for growth in GROWTH if growth >= FALLS_FROM.get(method, 1.0)
    ]
    found = [METHODS[method](reported, people).uniqueness for people in populations]
    shares = [share for share in found if share is not None]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(shares))


@each_cell("sample", SAMPLES)
def test_the_order_of_the_evidence_does_not_matter(method: Method, sample: str) -> None:
    classes = SAMPLES[sample]
    turned = dict(reversed(classes.items()))
    one, other = (
        METHODS[method](
            UniquenessEvidence(h.class_size, np.log(h.class_size * 0.7), h.classes), 1e5
        )
        for h in (plain(classes), plain(turned))
    )
    assert one.uniqueness == (
        other.uniqueness if other.uniqueness is None else pytest.approx(other.uniqueness)
    )
    assert one.status == other.status


def plain(classes: dict[int, int]) -> Histogram:
    size, count = np.array(list(classes)), np.array(list(classes.values()))
    return Histogram(size, count, size * count)
