-- Forecasts: from a sample to the population that it was drawn from.

CREATE TEMP TABLE people AS FROM demo_people();

-- The table is a sample. How often would a match on it be right in a city, a country, the world?
SELECT population,
       round(correctness, 4) AS correctness, round(correctness_low, 4) AS low,
       round(correctness_high, 4) AS high,
       round(uniqueness, 4) AS uniqueness
FROM pyc_forecast(people, ['age', 'sex', 'postcode', 'marital_status'], [3000, 100000, 10000000]);
-- | population | correctness | low | high | uniqueness |
-- | --- | --- | --- | --- | --- |
-- | 3000 | 0.695 | 0.695 | 0.695 | 0.509 |
-- | 100000 | 0.1213 | 0.1063 | 0.1486 | 0.0406 |
-- | 1e+07 | 0.0039 | 0.0026 | 0.0078 | 0.0008 |

-- The forecast rests on two numbers: the entropy of the anonymity sets, and the weight of their tail.
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

-- Or from the two numbers: 40 bits and a geometric tail, among all people of the world.
SELECT round(pyc_share(40 * ln(2), 0, 8e9), 4) AS correctness,
  round(pyc_share(40 * ln(2), 0, 8e9, 'uniqueness'), 4) AS uniqueness,
       round(pyc_share(40 * ln(2), 0, 8e9, 'k_violation', 5), 4) AS below_5;
-- | correctness | uniqueness | below_5 |
-- | --- | --- | --- |
-- | 0.9936 | 0.9872 | 1 |

-- Scores of a matcher, of right pairs and of wrong ones: how often is the right person first among n?
SELECT n, round(correctness, 3) AS correctness
FROM matching_correctness_curve([0.9, 0.4], [0.1, 0.2, 0.5, 0.6], [1, 2, 3]);
-- | n | correctness |
-- | --- | --- |
-- | 1 | 1 |
-- | 2 | 0.75 |
-- | 3 | 0.583 |

-- Five measurements, each known to half a hundredth, and a population within 30 times the largest:
-- the tilted curve, with its interval.
SELECT population, round(correctness, 2) AS correctness, round(correctness_low, 1) AS low,
  round(correctness_high, 1) AS high, status
FROM pyc_extrapolate([10, 100, 300, 1000, 2000], [0.995, 0.98, 0.95, 0.85, 0.76], [10000],
  standard_errors := [0.005]);
-- | population | correctness | low | high | status |
-- | --- | --- | --- | --- | --- |
-- | 10000 | 0.46 | 0.3 | 0.7 | ok |
