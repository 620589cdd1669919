-- Which columns distinguish people: alone, two at a time, and every minimal set of them.

CREATE TEMP TABLE people AS FROM demo_people();

SELECT columns, round(distinction, 4) AS distinction, round(separation, 4) AS separation
FROM attribute_risk(people, ['age', 'sex', 'postcode', 'occupation'], max_size := 2)
ORDER BY separation DESC;
-- | columns | distinction | separation |
-- | --- | --- | --- |
-- | age, postcode | 0.4223 | 0.9989 |
-- | age, occupation | 0.1827 | 0.9947 |
-- | age, sex | 0.0663 | 0.9943 |
-- | age | 0.0333 | 0.9886 |
-- | postcode, occupation | 0.092 | 0.9878 |
-- | sex, postcode | 0.0153 | 0.9528 |
-- | sex, occupation | 0.0087 | 0.936 |
-- | postcode | 0.0077 | 0.9057 |
-- | occupation | 0.0043 | 0.8719 |
-- | sex | 0.0007 | 0.4999 |

-- Every minimal set of columns by which at least 5 % of the people are unique, from all columns.
SELECT columns, size, round(share_unique, 4) AS share_unique, status
FROM quasi_identifiers(people, at_least := 0.05);
-- | columns | size | share_unique | status |
-- | --- | --- | --- | --- |
-- | age, postcode | 2 | 0.1963 | ok |
-- | age, diagnosis | 2 | 0.0527 | ok |
-- | age, education, occupation | 3 | 0.262 | ok |
-- | age, marital_status, occupation | 3 | 0.1437 | ok |
-- | postcode, education, occupation | 3 | 0.1327 | ok |
-- | postcode, occupation, diagnosis | 3 | 0.127 | ok |
-- | age, marital_status, education | 3 | 0.1197 | ok |
-- | age, sex, occupation | 3 | 0.1083 | ok |
-- | age, sex, education | 3 | 0.0853 | ok |
-- | postcode, education, diagnosis | 3 | 0.0767 | ok |
-- | postcode, marital_status, occupation | 3 | 0.0743 | ok |
-- | marital_status, education, occupation, diagnosis | 4 | 0.0993 | ok |
-- | sex, postcode, marital_status, diagnosis | 4 | 0.0893 | ok |
-- | sex, postcode, marital_status, education | 4 | 0.0793 | ok |
-- | sex, education, occupation, diagnosis | 4 | 0.065 | ok |

-- The minimal keys: sets of columns in which no two people are equal. Here two people are equal in all.
SELECT columns, size, status
FROM quasi_identifiers(people, at_least := 1);
-- | columns | size | status |
-- | --- | --- | --- |
-- |  | NULL | no_set: no set of at most 7 columns reaches at_least |

-- Combinations of at most two values that fewer than five people share, while five or more share each part.
SELECT columns, combinations, records, round(share, 4) AS share, fewest
FROM unsafe_combinations(people, ['age', 'sex', 'marital_status', 'education'], k := 5, max_size := 2);
-- | columns | combinations | records | share | fewest |
-- | --- | --- | --- | --- | --- |
-- | age | 4 | 11 | 0.0037 | 2 |
-- | age, education | 270 | 572 | 0.1907 | 1 |
-- | age, marital_status | 67 | 166 | 0.0553 | 1 |
-- | age, sex | 14 | 38 | 0.0127 | 1 |
-- | marital_status, education | 3 | 8 | 0.0027 | 2 |
