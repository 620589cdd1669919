-- Numbers, and lists of them.

-- Exact near zero, where ln(1 + x) and exp(x) - 1 lose digits.
MACRO reid_log1p(x) AS
CASE WHEN abs(x) < 1e-8 THEN x * (1 - x / 2) WHEN x > -0.5 THEN 2 * atanh(x / (2 + x)) ELSE ln(1 + x) END;

MACRO reid_expm1(x) AS
CASE WHEN abs(x) < 1e-8 THEN x * (1 + x / 2) WHEN abs(x) < 1 THEN 2 * tanh(x / 2) / (1 - tanh(x / 2))
ELSE exp(x) - 1 END;

MACRO reid_choose(n, k) AS
list_reduce(
  list_prepend(1::DOUBLE, range(1, k + 1)::DOUBLE[]), lambda chosen, i: chosen * (n - i + 1) / i);

-- Every subset of 1 to max_size of n columns, as lists of 1-based places, smallest subsets first.
MACRO reid_subset_places(n, max_size) AS
list_reduce(
  list_prepend(
    list_transform(range(1, n + 1), lambda i: [i]),
    list_transform(range(1, max_size), lambda i: []::BIGINT[][])),
  lambda found, step: list_concat(found, flatten(list_transform(
    list_filter(found, lambda s: len(s) = len(found[-1])),
    lambda s: list_transform(range(s[-1] + 1, n + 1), lambda j: list_append(s, j))))));
