-- The equivalence classes themselves, and the histogram of their sizes.

CREATE TEMP TABLE people AS FROM demo_people();

SELECT sex, marital_status, class_size
FROM equivalence_classes(people, ['sex', 'marital_status']) ORDER BY class_size;
-- | sex | marital_status | class_size |
-- | --- | --- | --- |
-- | F | widowed | 60 |
-- | M | widowed | 67 |
-- | F | divorced | 103 |
-- | M | divorced | 103 |
-- | M | married | 566 |
-- | F | married | 621 |
-- | M | single | 727 |
-- | F | single | 753 |

-- Every model of uniqueness in the population starts from this histogram.
FROM class_size_histogram(people, ['age', 'sex', 'postcode']);
-- | class_size | classes | records | blank_records | records_dropped | nulls |
-- | --- | --- | --- | --- | --- | --- |
-- | 1 | 1051 | 1051 | NULL | 0 | value |
-- | 2 | 377 | 754 | NULL | 0 | value |
-- | 3 | 150 | 450 | NULL | 0 | value |
-- | 4 | 76 | 304 | NULL | 0 | value |
-- | 5 | 40 | 200 | NULL | 0 | value |
-- | 6 | 20 | 120 | NULL | 0 | value |
-- | 7 | 8 | 56 | NULL | 0 | value |
-- | 8 | 7 | 56 | NULL | 0 | value |
-- | 9 | 1 | 9 | NULL | 0 | value |
