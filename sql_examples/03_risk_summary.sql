-- The risk of the table in one row, for an attacker who knows that the person is in it.

CREATE TEMP TABLE people AS FROM demo_people();

SELECT records, classes, k, unique_records, round(uniqueness, 4) AS uniqueness, average_risk, records_at_risk
FROM risk_summary(people, ['age', 'sex', 'postcode']);
-- | records | classes | k | unique_records | uniqueness | average_risk | records_at_risk |
-- | --- | --- | --- | --- | --- | --- | --- |
-- | 3000 | 1730 | 1 | 1051 | 0.3503 | 0.576667 | 0.853 |

-- A stricter reading: a record is at risk in a class of fewer than 20.
SELECT threshold, round(records_at_risk, 4) AS records_at_risk
FROM risk_summary(people, ['sex', 'postcode', 'marital_status'], threshold := 0.05);
-- | threshold | records_at_risk |
-- | --- | --- |
-- | 0.05 | 0.3153 |
