-- Who stands out: the people whose age, sex and postcode few others share.

CREATE TEMP TABLE people AS FROM 'reid_sql/demo/people.csv';

-- equivalence_class_size is a window function: it counts the records that share this record's values.
SELECT age, sex, postcode, equivalence_class_size(age, sex, postcode) AS k
FROM people QUALIFY k = 1 ORDER BY age DESC, sex, postcode LIMIT 5;
-- | age | sex | postcode | k |
-- | --- | --- | --- | --- |
-- | 99 | F | 04103 | 1 |
-- | 99 | M | 04102 | 1 |
-- | 99 | M | 04106 | 1 |
-- | 99 | M | 04111 | 1 |
-- | 98 | F | 04103 | 1 |

-- How many people are how hidden.
SELECT k, count(*) AS people
FROM (SELECT equivalence_class_size(age, sex, postcode) AS k FROM people)
GROUP BY k ORDER BY k LIMIT 5;
-- | k | people |
-- | --- | --- |
-- | 1 | 1051 |
-- | 2 | 754 |
-- | 3 | 450 |
-- | 4 | 304 |
-- | 5 | 200 |
