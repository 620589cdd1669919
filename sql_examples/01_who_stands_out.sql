-- Who stands out: the people whose age, sex and postcode few others share.

CREATE TEMP TABLE people AS FROM demo_people();

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

-- If a person has several rows, equal rows are not several people: count the people, by the column that
-- identifies them.
SELECT visit, age, sex, equivalence_class_size(age, sex) AS rows_alike,
  equivalence_class_people(person_id, age, sex) AS people
FROM (VALUES (1, 'p1', 41, 'F'), (2, 'p1', 41, 'F'), (3, 'p1', 41, 'F'), (4, 'p2', 30, 'M'),
  (5, 'p3', 30, 'M')) AS visits(visit, person_id, age, sex)
ORDER BY visit;
-- | visit | age | sex | rows_alike | people |
-- | --- | --- | --- | --- | --- |
-- | 1 | 41 | F | 3 | 1 |
-- | 2 | 41 | F | 3 | 1 |
-- | 3 | 41 | F | 3 | 1 |
-- | 4 | 30 | M | 2 | 2 |
-- | 5 | 30 | M | 2 | 2 |

-- How many people are in classes of each size?
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
