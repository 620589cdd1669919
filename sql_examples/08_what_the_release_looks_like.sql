-- What the release looks like: coarser columns, and how they lower the risk.

CREATE TEMP TABLE people AS FROM demo_people();

CREATE TEMP VIEW release AS
SELECT (age // 10) * 10 AS age_band, sex, marital_status, diagnosis FROM people;

SELECT 'as collected' AS version, k, unique_records, round(records_at_risk, 4) AS records_at_risk
FROM risk_summary(people, ['age', 'sex', 'postcode', 'marital_status'])
UNION ALL
SELECT 'as released', k, unique_records, round(records_at_risk, 4)
FROM risk_summary(release, ['age_band', 'sex', 'marital_status']);
-- | version | k | unique_records | records_at_risk |
-- | --- | --- | --- | --- |
-- | as collected | 1 | 1527 | 0.9293 |
-- | as released | 3 | 0 | 0.0023 |

-- The records that still stand out are left out of the release.
SELECT count(*) AS released, min(k) AS k
FROM (SELECT *, equivalence_class_size(age_band, sex, marital_status) AS k FROM release) WHERE k >= 5;
-- | released | k |
-- | --- | --- |
-- | 2993 | 5 |
