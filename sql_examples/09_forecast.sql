-- How far identification reaches: from a sample to the population it was drawn from.

CREATE TEMP TABLE people AS FROM 'reid_sql/demo/people.csv';

-- The table is a sample. How right would matches on it be in a city, a country, the world?
SELECT population,
       round(correctness, 4) AS correctness, round(correctness_low, 4) AS low, round(correctness_high, 4) AS high,
       round(uniqueness, 4) AS uniqueness
FROM pyc_forecast(people, ['age', 'sex', 'postcode', 'marital_status'], [3000, 100000, 10000000]);
-- | population | correctness | low | high | uniqueness |
-- | --- | --- | --- | --- | --- |
-- | 3000 | 0.695 | 0.695 | 0.695 | 0.509 |
-- | 100000 | 0.1213 | 0.107 | 0.1474 | 0.0406 |
-- | 1e+07 | 0.0039 | 0.0026 | 0.0076 | 0.0008 |

-- Behind it stand two numbers: the entropy of the anonymity sets, and how heavy their tail is.
SELECT round(entropy / ln(2), 1) AS bits, round(tail, 2) AS tail, status
FROM pyc_fit(people, ['age', 'sex', 'postcode', 'marital_status']);
-- | bits | tail | status |
-- | --- | --- | --- |
-- | 12.5 | 0.03 | ok |

-- Within the table the curve is exact, without drawing a single sample.
SELECT n, round(correctness, 4) AS correctness, round(uniqueness, 4) AS uniqueness
FROM correctness_curve(people, ['age', 'sex', 'postcode', 'marital_status'], sizes := [30, 300, 3000]);
-- | n | correctness | uniqueness |
-- | --- | --- | --- |
-- | 30 | 0.9951 | 0.9902 |
-- | 300 | 0.9523 | 0.9077 |
-- | 3000 | 0.695 | 0.509 |

-- Without the table, from two measurements that somebody published.
SELECT population, round(correctness, 2) AS correctness
FROM pyc_extrapolate([100, 1000], [0.99, 0.80], [10000]);
-- | population | correctness |
-- | --- | --- |
-- | 10000 | 0.21 |
