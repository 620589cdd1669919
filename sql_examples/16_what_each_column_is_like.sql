-- The first call for a table: what each column is like, before you choose quasi-identifiers.

CREATE TEMP TABLE people AS FROM demo_people();

SELECT column_name, distinct_values, round(separation, 4) AS separation, round(entropy_bits, 2) AS bits,
  looks_like
FROM profile(people);
-- | column_name | distinct_values | separation | bits | looks_like |
-- | --- | --- | --- | --- | --- |
-- | age | 100 | 0.9886 | 6.49 | number |
-- | sex | 2 | 0.4999 | 1 | category |
-- | postcode | 23 | 0.9057 | 3.94 | code |
-- | marital_status | 4 | 0.5938 | 1.49 | category |
-- | education | 6 | 0.7639 | 2.31 | category |
-- | occupation | 12 | 0.8719 | 3.27 | category |
-- | diagnosis | 7 | 0.6858 | 2.09 | category |

-- Missing-value codes count as values: a code that many records share hides risk, and a rare one creates it.
CREATE TEMP TABLE visits AS FROM (VALUES
  ('v1', 'p1', 'F', 41, '?'), ('v2', 'p1', 'F', 41, '8050'), ('v3', 'p2', 'M', 99, '8050'),
  ('v4', 'p3', 'M', 43, '8051'), ('v5', 'p3', 'M', 42, '8051')) AS t(visit, patient_id, sex, age, zip);
SELECT column_name, missing, sentinels, sentinel_records FROM profile(visits, ['sex', 'age', 'zip']);
-- | column_name | missing | sentinels | sentinel_records |
-- | --- | --- | --- | --- |
-- | sex | 0 |  |  |
-- | age | 0 | 99 | 1 |
-- | zip | 0 | ? | 1 |
