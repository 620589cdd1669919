-- The risk of the attacker's luckiest choices of columns (QaR), and which records cause it.

CREATE TEMP TABLE people AS FROM demo_people();
SET VARIABLE all_columns = ['age', 'sex', 'postcode', 'marital_status', 'education', 'occupation',
  'diagnosis'];

-- Any three columns may be known. The risk of a choice: its distinct values over the records.
SELECT quasi_identifier, distinct_values, round(risk, 4) AS risk
FROM qar_risk(people, getvariable('all_columns'), output := 'quasi_identifiers') LIMIT 3;
-- | quasi_identifier | distinct_values | risk |
-- | --- | --- | --- |
-- | age, postcode, diagnosis | 2072 | 0.6907 |
-- | age, postcode, occupation | 2012 | 0.6707 |
-- | age, postcode, education | 1992 | 0.664 |

-- The risk that only one choice in ten exceeds, by extreme-value theory. As there are few columns, the
-- distribution is fitted to half of the choices.
SELECT round(risk, 4) AS risk, round(risk_low, 4) AS low, round(risk_high, 4) AS high, quasi_identifiers,
  exceedances, status
FROM qar_risk(people, getvariable('all_columns'), alpha := 0.1, tail := 0.5);
-- | risk | low | high | quasi_identifiers | exceedances | status |
-- | --- | --- | --- | --- | --- | --- |
-- | 0.5613 | 0.4191 | 0.6722 | 35 | 17 | ok |

-- What each record adds to this risk. `key` identifies records; without it, `record` is the position, from 0.
SELECT record, round(1e6 * contribution, 1) AS millionths, unique_quasi_identifiers,
  round(u_plus, 2) AS u_plus
FROM qar_risk(people, getvariable('all_columns'), alpha := 0.1, tail := 0.5, output := 'contributions')
ORDER BY contribution DESC, record LIMIT 3;
-- | record | millionths | unique_quasi_identifiers | u_plus |
-- | --- | --- | --- | --- |
-- | 771 | 291.7 | 15 | 6.32 |
-- | 2722 | 291.7 | 15 | 6.32 |
-- | 286 | 290.1 | 14 | 6.17 |

-- The remaining risk without the 50 records that add most, chosen one after the other, and in a fixed
-- order.
SELECT e.step, round(e.risk, 4) AS exact, round(u.risk, 4) AS u_plus, round(e.bound, 4) AS at_least
FROM qar_risk(people, getvariable('all_columns'), remove := 50, alpha := 0.1, tail := 0.5,
  output := 'elimination') AS e
JOIN qar_risk(people, getvariable('all_columns'), remove := 50, ranking := 'u_plus', alpha := 0.1,
  tail := 0.5, output := 'elimination') AS u USING (step)
WHERE e.step IN (0, 10, 50) ORDER BY e.step;
-- | step | exact | u_plus | at_least |
-- | --- | --- | --- | --- |
-- | 0 | 0.5613 | 0.5613 | 0.401 |
-- | 10 | 0.5586 | 0.5597 | 0.3991 |
-- | 50 | 0.5503 | 0.5551 | 0.392 |

-- How well quick proxies approximate the exact contributions.
SELECT proxy, round(pearson, 2) AS pearson, round(kendall, 2) AS kendall, round(auc, 2) AS auc
FROM qar_risk(people,
  ['age', 'sex', 'postcode', 'marital_status', 'education', 'occupation', 'diagnosis'],
  alpha := 0.1, tail := 0.5, output := 'proxies')
WHERE status = 'ok';
-- | proxy | pearson | kendall | auc |
-- | --- | --- | --- | --- |
-- | u_plus | -0.27 | 0.58 | 0.88 |
-- | u_star | -0.37 | 0.45 | 0.86 |
