-- The first thing to ask of a table: what each column is like, before any is called a quasi-identifier.

CREATE TEMP TABLE people AS FROM 'reid_sql/demo/people.csv';

SELECT column_name, distinct_values, round(separation, 4) AS separation, round(entropy_bits, 2) AS bits,
  looks_like
FROM profile(people);

-- Marks for missing values count as values: they hide risk where many records share one, and make it where
-- few do.
CREATE TEMP TABLE visits AS FROM (VALUES
  ('v1', 'p1', 'F', 41, '?'), ('v2', 'p1', 'F', 41, '8050'), ('v3', 'p2', 'M', 99, '8050'),
  ('v4', 'p3', 'M', 43, '8051'), ('v5', 'p3', 'M', 42, '8051')) AS t(visit, patient_id, sex, age, zip);
SELECT column_name, missing, sentinels, sentinel_records FROM profile(visits, ['sex', 'age', 'zip']);
