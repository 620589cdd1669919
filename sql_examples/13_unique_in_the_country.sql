-- Unique in the country: how many people are alone in their class, where the table is a sample of them.

-- A fifth of the town is the sample; the other people then show the true value.
CREATE TEMP TABLE town AS FROM demo_people();
CREATE TEMP TABLE sample AS SELECT * FROM town QUALIFY (row_number() OVER () - 1) % 5 = 0;

-- All methods side by side. `people` is the answer of population_risk. `bound` is not an estimate: it is the
-- sample's own share of unique records, which on average is never too low.
SELECT method, round(unique_records) AS unique_records, round(uniqueness, 3) AS uniqueness,
       round(uniqueness_low, 3) AS low, round(uniqueness_high, 3) AS high
FROM population_uniqueness(sample, ['age', 'sex', 'postcode'], 3000);
-- | method | unique_records | uniqueness | low | high |
-- | --- | --- | --- | --- | --- |
-- | people | 1053 | 0.351 | 0.292 | 0.412 |
-- | bound | 2255 | 0.752 | 0 | 0.786 |
-- | zayatz | 1805 | 0.602 | NULL | NULL |
-- | pitman | 1136 | 0.379 | 0.276 | 0.52 |
-- | snb | 1579 | 0.526 | NULL | NULL |
-- | dankar | 1579 | 0.526 | NULL | NULL |
-- | loglinear | 1007 | 0.336 | NULL | NULL |
-- | loglinear_nb | 1007 | 0.336 | 0.294 | 0.377 |
-- | pyc | 1136 | 0.379 | 0.34 | 0.481 |
-- | copula | 843 | 0.281 | NULL | NULL |

-- The true value:
SELECT unique_records, round(uniqueness, 3) AS uniqueness FROM risk_summary(town, ['age', 'sex', 'postcode']);
-- | unique_records | uniqueness |
-- | --- | --- |
-- | 1051 | 0.35 |

-- Why is there no interval, or no estimate? `status` gives the reason, and the method of Dankar's rule.
SELECT method, status FROM population_uniqueness(sample, ['age', 'sex', 'postcode'], 3000)
WHERE method IN ('dankar', 'loglinear_nb', 'snb');
-- | method | status |
-- | --- | --- |
-- | snb | no_interval: the moments of the slide negative binomial model give none |
-- | dankar | by snb: the rule of Dankar et al. takes the estimate of snb; no_interval: the moments of the slide negative binomial model give none |
-- | loglinear_nb | low_coverage: the interval contained the true value in only 52 of 119 reference samples; poisson: counts vary no more than Poisson counts do |

-- Who in the sample is most likely unique in the whole town? nb_uniqueness is the chance, nb_correctness that
-- a match is right.
SELECT age, sex, postcode, round(nb_uniqueness, 3) AS chance, round(nb_correctness, 3) AS match_is_right
FROM loglinear_risk(sample, ['age', 'sex', 'postcode'], 0.2) POSITIONAL JOIN sample
ORDER BY chance DESC, age, sex, postcode LIMIT 3;
-- | age | sex | postcode | chance | match_is_right |
-- | --- | --- | --- | --- | --- |
-- | 86 | M | 04123 | 0.98 | 0.99 |
-- | 93 | F | 04124 | 0.968 | 0.984 |
-- | 95 | M | 04121 | 0.96 | 0.98 |

-- The expected number of unique people, and of right matches, among the unique records of the sample.
SELECT DISTINCT round(nb_tau1, 1) AS unique_people, round(nb_tau2, 1) AS right_matches, status
FROM loglinear_risk(sample, ['age', 'sex', 'postcode'], 0.2);
-- | unique_people | right_matches | status |
-- | --- | --- | --- |
-- | 201.4 | 296.2 | ok |

-- A survey with weights: each record represents five people. The risk of a record is the mean of 1/F over the
-- possible numbers F of people of its class.
CREATE TEMP TABLE weighted AS SELECT *, 5 AS weight FROM sample;
SELECT class_size, population_class_size, round(min(risk), 4) AS risk, count(*) AS records
FROM individual_risk(weighted, ['age', 'sex', 'postcode'], weight := 'weight')
GROUP BY ALL ORDER BY ALL LIMIT 3;
-- | class_size | population_class_size | risk | records |
-- | --- | --- | --- | --- |
-- | 1 | 5 | 0.4024 | 451 |
-- | 2 | 10 | 0.1494 | 116 |
-- | 3 | 15 | 0.0876 | 21 |

-- The one answer: uniqueness, right matches and small classes in the population, with the sentence to quote.
SELECT population, round(uniqueness, 3) AS uniqueness, round(correctness, 3) AS correctness
FROM population_risk(sample, ['age', 'sex', 'postcode'], [3000]);
-- | population | uniqueness | correctness |
-- | --- | --- | --- |
-- | 3000 | 0.351 | 0.575 |

-- Which method errs least on these data? The town serves as the population, and the methods see samples of a
-- fifth of it. A forecast from the town to a country may err more.
SELECT method, round(value, 3) AS mean_error, round(truth, 3) AS truth
FROM validate_risk(town, ['age', 'sex', 'postcode'], [0.2], 2, methods := ['people', 'pitman', 'copula'])
WHERE figure = 'uniqueness_error' ORDER BY value;
-- | method | mean_error | truth |
-- | --- | --- | --- |
-- | people | 0.007 | 0.35 |
-- | pitman | 0.05 | 0.35 |
-- | copula | 0.072 | 0.35 |

-- How good are the scores of people outside the samples? A useful score has a Brier score below that of the
-- best constant.
SELECT method, figure, round(value, 3) AS value
FROM validate_risk(town, ['age', 'sex', 'postcode'], [0.2], 2, methods := ['people', 'copula'])
WHERE figure IN ('auc', 'brier', 'brier_constant') ORDER BY ALL;
-- | method | figure | value |
-- | --- | --- | --- |
-- | copula | auc | 0.827 |
-- | copula | brier | 0.165 |
-- | copula | brier_constant | 0.222 |
-- | people | auc | 0.848 |
-- | people | brier | 0.15 |
-- | people | brier_constant | 0.222 |
