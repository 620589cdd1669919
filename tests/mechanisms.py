"""Ways to disturb a table of people: swapping, noise, rounding, microaggregation, shuffling and mixtures."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Table = Mapping[str, Values]
Mechanism = Callable[[Table, np.random.Generator], dict[str, Values]]
PEOPLE: Final = 600
CATEGORIES: Final = {"town", "sex", "job"}
MECHANISMS: dict[str, tuple[tuple[str, ...], Mechanism]] = {}


def draw_people(seed: int) -> dict[str, Values]:
    """Six columns of people; income and weight are nearly unique."""
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(17, 90, PEOPLE),
        "income": np.round(np.exp(rng.normal(10.3, 0.8, PEOPLE))),
        "weight": np.round(rng.normal(75, 14, PEOPLE), 1),
        "town": rng.integers(0, 40, PEOPLE) ** 2 % 37,
        "sex": rng.integers(0, 2, PEOPLE),
        "job": np.minimum(rng.geometric(0.15, PEOPLE), 25),
    }
    return {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}


def mechanism(name: str, *columns: str) -> Callable[[Mechanism], Mechanism]:
    """Add a way to disturb some of these columns, which the release has and the attacker knows."""

    def add(function: Mechanism) -> Mechanism:
        MECHANISMS[name] = columns, function
        return function

    return add


def some(rng: np.random.Generator, share: float) -> npt.NDArray[np.bool_]:
    return rng.random(PEOPLE) < share


def swap(rng: np.random.Generator, values: Values, share: float) -> Values:
    swapped, chosen = values.copy(), np.flatnonzero(some(rng, share))
    swapped[chosen] = values[rng.permutation(chosen)]
    return swapped


def perturb(rng: np.random.Generator, values: Values, share: float) -> Values:
    """Post-randomization: another category with this probability."""
    return np.where(some(rng, share), rng.choice(np.unique(values), PEOPLE), values)


def swap_ranks(rng: np.random.Generator, values: Values, share: float) -> Values:
    """Swap each value with one that is at most this share of the ranks away."""
    order, swapped, window = (
        np.argsort(values, kind="stable"),
        values.copy(),
        max(1, int(share * PEOPLE)),
    )
    free = np.ones(PEOPLE, dtype=bool)
    for low in range(PEOPLE):
        partners = [high for high in range(low + 1, min(PEOPLE, low + window + 1)) if free[high]]
        if free[low] and partners:
            high = int(rng.choice(partners))
            swapped[order[[low, high]]] = values[order[[high, low]]]
            free[low] = free[high] = False
    return swapped


def microaggregate(table: Table, columns: tuple[str, ...], size: int) -> dict[str, Values]:
    """Replace groups of near records by their means: the farthest record and its neighbours, in turn."""
    numbers = np.stack([table[name] for name in columns], axis=1)
    standard, left, means = (
        (numbers - numbers.mean(0)) / numbers.std(0),
        list(range(PEOPLE)),
        numbers.copy(),
    )
    while len(left) >= 2 * size:
        farthest = left[int(np.argmax(((standard[left] - standard[left].mean(0)) ** 2).sum(1)))]
        group = sorted(
            left, key=lambda at: float(((standard[at] - standard[farthest]) ** 2).sum())
        )[:size]
        means[group] = numbers[group].mean(0)
        left = [at for at in left if at not in group]
    means[left] = numbers[left].mean(0)
    return {name: means[:, at] for at, name in enumerate(columns)}


def add_simple(
    name: str, columns: str, **changes: Callable[[Values, np.random.Generator], Values]
) -> None:
    """Add a mechanism that disturbs columns one by one."""

    def disturb(table: Table, rng: np.random.Generator) -> dict[str, Values]:
        return {column: change(table[column], rng) for column, change in changes.items()}

    MECHANISMS[name] = tuple(columns.split()), disturb


Change = Callable[[Values, np.random.Generator], Values]


def swapped(share: float) -> Change:
    return lambda values, rng: swap(rng, values, share)


def ranks_swapped(share: float) -> Change:
    return lambda values, rng: swap_ranks(rng, values, share)


def in_proportion(values: Values, rng: np.random.Generator) -> Values:
    return np.asarray(values * np.exp(rng.normal(0, 0.1, PEOPLE)))


def perturbed(share: float) -> Change:
    return lambda values, rng: perturb(rng, values, share)


def noisy(draw: Callable[[np.random.Generator], Any], share: float = 1.0) -> Change:
    return lambda values, rng: values + np.where(some(rng, share), draw(rng), 0.0)


def normal(deviation: float, share: float = 1.0) -> Change:
    return noisy(lambda rng: rng.normal(0, deviation, PEOPLE), share)


def whole(reach: int, share: float = 1.0) -> Change:
    return noisy(lambda rng: rng.integers(-reach, reach + 1, PEOPLE), share)


def rounded(unit: float, share: float = 1.0) -> Change:
    return lambda values, rng: np.where(some(rng, share), np.round(values / unit) * unit, values)


def suppressed(share: float, change: Change = lambda values, _: values) -> Change:
    return lambda values, rng: np.where(some(rng, share), np.nan, change(values, rng))


for percent in (1, 5, 20, 50, 100):
    add_simple(f"swap {percent} %", "income", income=swapped(percent / 100))
add_simple("zero", "income", income=lambda v, rng: np.where(some(rng, 0.1), 0.0, v))
add_simple(
    "zero with others", "income age town", income=lambda v, rng: np.where(some(rng, 0.1), 0.0, v)
)
add_simple("swap two", "age income", age=swapped(0.2), income=swapped(0.2))
add_simple("swap one of four", "age sex town job", age=swapped(0.2))
add_simple(
    "swap all",
    "age income sex town",
    age=swapped(0.2),
    income=swapped(0.2),
    sex=swapped(0.2),
    town=swapped(0.2),
)
add_simple("whole noise for half", "age sex town", age=whole(10, 0.5))
add_simple("whole noise", "age sex town", age=whole(3))
add_simple("much noise", "income", income=normal(4000))
add_simple("little noise", "income", income=normal(400))
add_simple(
    "uniform noise",
    "income age",
    income=noisy(lambda rng: rng.uniform(-2000, 2000, PEOPLE)),
    age=noisy(lambda rng: rng.uniform(-3, 3, PEOPLE)),
)
add_simple(
    "Laplace noise",
    "income age weight",
    income=noisy(lambda rng: rng.laplace(0, 2000, PEOPLE)),
    age=noisy(lambda rng: rng.laplace(0, 2, PEOPLE)),
    weight=noisy(lambda rng: rng.laplace(0, 2, PEOPLE)),
)
add_simple(
    "Cauchy noise",
    "income age weight",
    income=noisy(lambda rng: 500 * rng.standard_cauchy(PEOPLE)),
    age=noisy(lambda rng: rng.standard_cauchy(PEOPLE)),
    weight=noisy(lambda rng: rng.standard_cauchy(PEOPLE)),
)
add_simple("noise in proportion", "income", income=lambda v, rng: v * rng.normal(1, 0.05, PEOPLE))
add_simple(
    "noise in proportion of three",
    "income age weight",
    income=in_proportion,
    age=in_proportion,
    weight=in_proportion,
)
add_simple("noise for a tenth", "income", income=whole(1000, 0.1))
add_simple("noise for half of two", "income age", income=normal(3000, 0.5), age=whole(5, 0.5))
add_simple(
    "noise of large numbers",
    "income",
    income=lambda v, rng: v + np.where(v > 40_000, rng.normal(0, 8000, PEOPLE), 0.0),
)
add_simple("rank swap near", "income", income=ranks_swapped(0.02))
add_simple("rank swap far", "income", income=ranks_swapped(0.1))
add_simple(
    "rank swap of three",
    "income age weight",
    income=ranks_swapped(0.05),
    age=ranks_swapped(0.05),
    weight=ranks_swapped(0.05),
)
add_simple("rounding", "income age", income=rounded(1000), age=rounded(5))
add_simple("rounding of half", "income", income=rounded(1000, 0.5))
add_simple(
    "rounding of half of two", "income age", income=rounded(10_000, 0.5), age=rounded(10, 0.5)
)
add_simple(
    "random rounding",
    "income",
    income=lambda v, rng: np.floor(v / 3000 + rng.random(PEOPLE)) * 3000,
)
add_simple("top coding", "income", income=lambda v, _: np.minimum(v, 60_000.0))
add_simple(
    "top coding and swap",
    "income age",
    income=lambda v, rng: swap(rng, np.minimum(v, 60_000.0), 0.1),
    age=lambda v, _: np.minimum(v, 80.0),
)
add_simple(
    "mean of the top, and noise",
    "income",
    income=lambda v, rng: np.where(
        v > 60_000, v[v > 60_000].mean(), v + rng.normal(0, 500, PEOPLE)
    ),
)
add_simple("shuffling", "income age", income=swapped(1.0))
add_simple("suppression", "income age", income=suppressed(0.3))
add_simple(
    "suppression and noise", "income age", income=suppressed(0.3, normal(500)), age=suppressed(0.2)
)
add_simple("perturbed categories", "town sex age", town=perturbed(0.2), sex=perturbed(0.2))
add_simple(
    "perturbed columns",
    "town sex job age",
    town=perturbed(0.3),
    sex=perturbed(0.3),
    job=perturbed(0.3),
    age=perturbed(0.3),
)
add_simple("perturbed numbers", "income sex", income=perturbed(0.3), sex=perturbed(0.1))
add_simple(
    "shift of half", "income", income=lambda v, rng: v + np.where(some(rng, 0.5), 1000.0, 0.0)
)
add_simple("signs", "income age", income=lambda v, rng: np.where(some(rng, 0.2), -v, v))
add_simple(
    "digits exchanged",
    "age income",
    age=lambda v, rng: np.where(some(rng, 0.5), v % 10 * 10 + v // 10, v),
    income=normal(3000),
)


@mechanism("noise and rounding", "income", "age")
def _noise_and_rounding(table: Table, rng: np.random.Generator) -> dict[str, Values]:
    return {
        "income": np.round(table["income"] + rng.normal(0, 2000, PEOPLE), -3),
        "age": np.round((table["age"] + rng.normal(0, 2, PEOPLE)) / 5) * 5,
    }


@mechanism("swap of records", "age", "income", "town", "sex")
def _swap_of_records(table: Table, rng: np.random.Generator) -> dict[str, Values]:
    chosen = np.flatnonzero(some(rng, 0.3))
    partners, changed = (
        rng.permutation(chosen),
        {name: table[name].copy() for name in ("age", "income", "town")},
    )
    for name, values in changed.items():
        values[chosen] = table[name][partners]
    return changed


@mechanism("correlated noise", "income", "weight", "age")
def _correlated_noise(table: Table, rng: np.random.Generator) -> dict[str, Values]:
    common = rng.normal(size=PEOPLE)
    deviations = {"income": 3000, "weight": 5, "age": 6}
    return {
        name: table[name] + deviation * (common + 0.2 * rng.normal(size=PEOPLE))
        for name, deviation in deviations.items()
    }


@mechanism("microaggregation of one", "income")
def _microaggregation_of_one(table: Table, _: np.random.Generator) -> dict[str, Values]:
    return microaggregate(table, ("income",), 3)


@mechanism("microaggregation of two", "income", "weight")
def _microaggregation_of_two(table: Table, _: np.random.Generator) -> dict[str, Values]:
    return microaggregate(table, ("income", "weight"), 3)


@mechanism("microaggregation of three", "income", "weight", "age")
def _microaggregation_of_three(table: Table, _: np.random.Generator) -> dict[str, Values]:
    return microaggregate(table, ("income", "weight", "age"), 5)


@mechanism("shuffling within towns", "income", "town", "age")
def _shuffling_within_towns(table: Table, rng: np.random.Generator) -> dict[str, Values]:
    income = table["income"].copy()
    for town in np.unique(table["town"]):
        there = np.flatnonzero(table["town"] == town)
        income[there] = table["income"][rng.permutation(there)]
    return {"income": income}


@mechanism("noise by town", "income", "town")
def _noise_by_town(table: Table, rng: np.random.Generator) -> dict[str, Values]:
    return {
        "income": table["income"]
        + rng.normal(0, 1, PEOPLE) * np.where(table["town"] > 15, 5000, 100)
    }


@mechanism("mixture of four", "income", "age")
def _mixture_of_four(table: Table, rng: np.random.Generator) -> dict[str, Values]:
    income, which = table["income"], rng.integers(0, 4, PEOPLE)
    ways = [
        income,
        np.round(income, -3),
        income + rng.normal(0, 1000, PEOPLE),
        swap(rng, income, 1.0),
    ]
    return {"income": np.choose(which, ways), "age": swap(rng, table["age"], 0.3)}
