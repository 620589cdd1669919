"""PYC: how uniqueness, correctness and k-anonymity violations of a table scale with the population.

The frequencies of the anonymity sets follow a Pitman–Yor process of discount d and concentration α, expressed
in two numbers people can read: the entropy h (nats) of the sets, and the complexity γ of their tail (1 a
heavy tail, 0 a geometric one, below 0 finitely many sets, nearing equally large ones).

Source: Rocher, Hendrickx & de Montjoye 2025, equations 2, 12 and 13; Pitman 1995 for the classes of each
size.
"""

import sys
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.numerics.gamma_functions import digamma_difference, inverse_harmonic, log_rising_ratio
from reid_sql.parameters import COUNT, Floats, Number, plain

MAX_BELOW_ONE: Final = float(np.nextafter(1.0, 0.0))
ENTROPY: Final = Number(
    "an entropy of at least 0.001 and at most 60 nats",
    "pass the entropy of the anonymity sets in nats, which is 0.6931 times the bits",
    1e-3,
    60.0,
)
TAIL: Final = Number(
    "a tail complexity of at least -20 and at most 1",
    "pass 0 for a geometric tail, towards 1 for a heavy one, below 0 for finitely many sets",
    -20.0,
    1.0,
)
DISCOUNT: Final = Number(
    "a finite discount below 1",
    "pass the discount d of a Pitman–Yor process",
    -sys.float_info.max,
    MAX_BELOW_ONE,
)
CONCENTRATION: Final = Number(
    "a finite concentration above -1",
    "pass the concentration α of a Pitman–Yor process, above minus its discount",
    -MAX_BELOW_ONE,
    sys.float_info.max,
)
CLASS_SIZE: Final = Number(
    "a class size of 1 to 1000",
    "pass the k of k-anonymity as a whole number, such as 5",
    1.0,
    1000.0,
    whole=True,
)

Entropy = Annotated[npt.ArrayLike, ENTROPY]
Tail = Annotated[npt.ArrayLike, TAIL]
ClassSize = Annotated[int, CLASS_SIZE]

MIN_UNIFORM_PRODUCT: Final = 100.0  # from this ln(−d) on the sets are equally large to the last digit
VANISHING_PRODUCT: Final = 1e-150  # a smaller discount counts as 0: the equations keep their limit


def parameters(entropy: npt.ArrayLike, tail: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Discount d and concentration α of the Pitman–Yor process of this entropy and tail complexity.

    They are those of its anonymity sets. ψ(1−d) = ψ(1) − hγ and ψ(1+α) = ψ(1) + h − hγ, equation 2 solved for
    d and α. `entropy` is in nats; both arguments broadcast. A value too large for a double is infinite (hγ
    below −709 or h − hγ above 710): equally large sets, e^h of them. Refuses an entropy outside [0.001, 60]
    and a tail outside [−20, 1].

    >>> discount, concentration = parameters(10.0, 0.5)
    >>> round(float(discount), 6), round(float(concentration), 6)
    (0.810422, 82.827476)
    """
    entropy, tail = np.broadcast_arrays(ENTROPY.check("entropy", entropy), TAIL.check("tail", tail))
    fallen, risen = inverse_harmonic(np.stack([-entropy * tail, entropy * (1 - tail)]))
    return 0.0 - fallen, risen  # 0 − 0 is 0, never −0


def entropy_and_tail(discount: npt.ArrayLike, concentration: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Entropy (nats) of the anonymity sets and complexity of their tail, under a Pitman–Yor process.

    h = ψ(1+α) − ψ(1−d) and γ = (ψ(1) − ψ(1−d)) / h, equation 2. The arguments broadcast. Refuses d ≥ 1, α ≤
    −d and what is not finite. A concentration below 0 gives a tail above 1, which the model of correctness
    does not take.

    >>> [round(float(value), 6) for value in entropy_and_tail(0.5, 100.0)]
    [6.573672, 0.210886]
    """
    d, alpha = np.broadcast_arrays(
        DISCOUNT.check("discount", discount), CONCENTRATION.check("concentration", concentration)
    )
    if (alpha <= -d).any():
        at = np.flatnonzero(alpha <= -d)[0]
        got = f"got {plain(alpha.flat[at])} for discount {plain(d.flat[at])}"
        raise OutOfDomainError(
            f"concentration must be above minus the discount, {got}; pass a larger concentration"
        )
    entropy = digamma_difference(1 - d, alpha + d)
    return entropy, 0.0 - digamma_difference(1.0, -d) / entropy


def correctness(entropy: npt.ArrayLike, tail: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Expected share κ of `n` people whom a match on their anonymity set names correctly.

    E κ(n) = [Γ(1+α)/Γ(d+α) · Γ(n+d+α)/Γ(n+α) − α] / (n d), equation 13: the expected number of anonymity sets
    over n. `entropy` is in nats, n may be fractional, and the three broadcast. Relative error below 1e-9 for
    n up to 8e9. Refuses an entropy outside [0.001, 60], a tail outside [−20, 1] and n below 1.

    >>> float(correctness(40 * np.log(2), 0.0, 7.53e9).round(4))
    0.994
    """
    d, alpha = _process_parameters(entropy, tail)
    n = COUNT.check("n", n)
    growth = _log_growth(d, alpha, n)
    # Equation 13 with Γ(1+d+α) for (d+α) Γ(d+α), which leaves a sum of two positive terms.
    kappa = (np.exp(growth) + alpha / d * np.expm1(growth)) / n
    return np.asarray(np.minimum(kappa, 1.0))


def uniqueness(entropy: npt.ArrayLike, tail: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Expected share Ξ of `n` people who are alone in their anonymity set.

    E Ξ(n) = Γ(α+1)/Γ(d+α) · Γ(n+d+α−1)/Γ(n+α), equation 12. `entropy` is in nats, n may be fractional, and
    the three broadcast. Relative error below 1e-9 for n up to 8e9. Refuses an entropy outside [0.001, 60], a
    tail outside [−20, 1] and n below 1.

    >>> float(uniqueness(40 * np.log(2), 0.0, 7.53e9).round(4))
    0.9879
    """
    d, alpha = _process_parameters(entropy, tail)
    return np.asarray(np.exp(_log_uniqueness(d, alpha, COUNT.check("n", n))))


def k_violation(entropy: npt.ArrayLike, tail: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """Expected share V_k of `n` people whose anonymity set is smaller than `k`.

    V_k = Σ_{j<k} j E[M_j] / n, where E[M_j] = C(n, j) (1−d)_{j−1} (d+α)_{n−j} / (1+α)_{n−1} anonymity sets
    have j people; the sum is that of equation 14, and of equation 11 between whole n. V_k = 1 for n up to k −
    1, V_2 = Ξ and V_1 = 0. `entropy` is in nats, n may be fractional, and the four broadcast. Relative error
    below 1e-9 for n up to 8e9. Refuses an entropy outside [0.001, 60], a tail outside [−20, 1], n below 1 and
    k that is not a whole number of 1 to 1000.

    >>> float(k_violation(10.0, 0.5, 1e6, 5).round(6))
    0.233287
    """
    d, alpha = _process_parameters(entropy, tail)
    n, k = COUNT.check("n", n), CLASS_SIZE.check("k", k)
    inside = np.maximum(n, k - 1)
    log_sum = _log_uniqueness(d, alpha, inside) + _log_sum_over_first(d, alpha, inside, k)
    violation = np.where(k == 1, 0.0, np.minimum(np.exp(log_sum), 1.0))
    return np.where(n <= k - 1, 1.0, violation)


def _process_parameters(entropy: npt.ArrayLike, tail: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Discount and concentration, finite and d off 0 where that changes no digit of the answers."""
    entropy, tail = np.broadcast_arrays(ENTROPY.check("entropy", entropy), TAIL.check("tail", tail))
    uniform = entropy * tail < -MIN_UNIFORM_PRODUCT
    # α / −d = e^h counts the sets: both are scaled down together.
    d = 0.0 - inverse_harmonic(np.where(uniform, MIN_UNIFORM_PRODUCT, -entropy * tail))
    alpha = inverse_harmonic(np.where(uniform, MIN_UNIFORM_PRODUCT + entropy, entropy * (1 - tail)))
    return np.where(np.abs(d) < VANISHING_PRODUCT, VANISHING_PRODUCT, d), alpha


def _log_growth(d: Floats, alpha: Floats, n: Floats) -> Floats:
    """Logarithm of Γ(1+α) Γ(n+d+α) / (Γ(1+d+α) Γ(n+α)), which equations 12 and 13 share.

    It has the sign of d.
    """
    return np.asarray(np.sign(d) * log_rising_ratio(1 + alpha + np.minimum(d, 0.0), n - 1, np.abs(d)))


def _log_uniqueness(d: Floats, alpha: Floats, n: Floats) -> Floats:
    """Logarithm of E Ξ(n), equation 12."""
    return np.asarray(_log_growth(d, alpha, n) - np.log1p((n - 1) / (d + alpha)))


def _log_sum_over_first(d: Floats, alpha: Floats, n: Floats, k: Floats) -> Floats:
    """Logarithm of Σ_{j<k} t_j / t_1, where t_j = j E[M_j] / n.

    t_j is the expected share of people in classes of j.
    """
    log_sum, last = (
        np.zeros(()),
        np.ones(()),
    )  # last: t_j over the sum so far, which neither overflows nor cancels
    for j in range(1, int(k.max(initial=1)) - 1):
        rise = (n - j) / j * ((j - d) / np.maximum(n - j - 1 + d + alpha, d + alpha))  # t_{j+1} / t_j
        step = np.where(j < k - 1, last * rise, 0.0)
        log_sum, last = log_sum + np.log1p(step), step / (1 + step)
    return log_sum
