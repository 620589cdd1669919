-- The treatment of missing values changes the answer, so every answer contains it.

CREATE TEMP TABLE people AS FROM demo_people();

-- A value of its own (the default): what the released table shows.
SELECT records, k, unique_records, nulls, records_dropped
FROM risk_summary(people, ['sex', 'education', 'occupation']);
-- | records | k | unique_records | nulls | records_dropped |
-- | --- | --- | --- | --- | --- |
-- | 3000 | 1 | 14 | value | 0 |

-- Left out, and counted as such.
SELECT records, k, unique_records, nulls, records_dropped
FROM risk_summary(people, ['sex', 'education', 'occupation'], nulls := 'drop');
-- | records | k | unique_records | nulls | records_dropped |
-- | --- | --- | --- | --- | --- |
-- | 2868 | 1 | 5 | drop | 132 |

-- A wildcard: a missing value may be any value, in either record.
SELECT records, k, unique_records, nulls, records_dropped
FROM risk_summary(people, ['sex', 'education', 'occupation'], nulls := 'wildcard');
-- | records | k | unique_records | nulls | records_dropped |
-- | --- | --- | --- | --- | --- |
-- | 3000 | 2 | 0 | wildcard | 0 |

-- A record without any value matches everybody, but hides nobody else: `blank_records` counts such
-- records.
CREATE TEMP TABLE forms AS FROM
  (VALUES ('F', 'nurse'), ('M', 'cook'), (NULL, NULL), (NULL, NULL)) AS t(sex, occupation);
SELECT class_size, records, blank_records
FROM class_size_histogram(forms, ['sex', 'occupation'], nulls := 'wildcard');
-- | class_size | records | blank_records |
-- | --- | --- | --- |
-- | 1 | 2 | 0 |
-- | 4 | 2 | 2 |
SELECT records, k, unique_records, nulls, blank_records
FROM risk_summary(forms, ['sex', 'occupation'], nulls := 'wildcard');
-- | records | k | unique_records | nulls | blank_records |
-- | --- | --- | --- | --- | --- |
-- | 4 | 1 | 2 | wildcard | 2 |
