-- A table that is released every month: who can be followed, who is new, and what both months reveal.

-- Two months of a made-up town: the first 20 people have left, 40 are new, and one in a hundred has moved.
CREATE TEMP TABLE town AS SELECT row_number() OVER () AS id, * FROM demo_people();
CREATE TEMP TABLE january AS FROM town WHERE id <= 2960;
CREATE TEMP TABLE february AS
SELECT * REPLACE (if(id % 100 = 0, '04102', postcode) AS postcode) FROM town WHERE id > 20;

-- The data holder knows people by id; an attacker knows their age, sex and postcode.
SELECT figure, round(value, 1) AS value, total, round(share, 3) AS share
FROM compare_releases(january, february, ['age', 'sex', 'postcode'], key := 'id')
WHERE value IS NOT NULL;
-- | figure | value | total | share |
-- | --- | --- | --- | --- |
-- | first_people | 2960 | NULL | NULL |
-- | second_people | 2980 | NULL | NULL |
-- | followed | 1013 | 2960 | 0.342 |
-- | followed_right | 1013 | 1013 | 1 |
-- | expected_right_links | 1673.8 | 2940 | 0.569 |
-- | unique_in_both | 1013 | 2940 | 0.345 |
-- | common_classes | 2942 | 2960 | 0.994 |
-- | same_class | 2920 | 2940 | 0.993 |
-- | stayed | 2940 | 2960 | 0.993 |
-- | entered | 40 | 2980 | 0.013 |
-- | left | 20 | 2960 | 0.007 |
-- | entered_alone | 52 | 2980 | 0.017 |
-- | left_alone | 40 | 2960 | 0.014 |
-- | entered_alone_right | 52 | 52 | 1 |
-- | left_alone_right | 40 | 40 | 1 |
-- | all_people | 3000 | NULL | NULL |
-- | unique_by_one | 1046 | 3000 | 0.349 |
-- | unique_by_all | 1115 | 3000 | 0.372 |
-- | beyond_one | 45 | 3000 | 0.015 |

-- Coarse columns, so that nobody is alone in either month. Four people are new, each in a class of hundreds.
CREATE TEMP VIEW coarse_january AS
SELECT id, age // 20 * 20 AS age, sex, diagnosis FROM january WHERE age < 80;
CREATE TEMP VIEW coarse_february AS
SELECT id, age // 20 * 20 AS age, sex, diagnosis FROM town WHERE age < 80 AND id <= 2964;

SELECT k FROM risk_summary(coarse_january, ['age', 'sex']);
-- | k |
-- | --- |
-- | 325 |

SELECT figure, value, total, definition
FROM compare_releases(coarse_january, coarse_february, ['age', 'sex'], sensitive := 'diagnosis')
WHERE figure IN ('followed', 'entered_alone', 'entered_value', 'backward_anonymity', 'bcf_anonymity');
-- | figure | value | total | definition |
-- | --- | --- | --- | --- |
-- | followed | 0 | 2785 | people alone in their class in both releases, whom an attacker links one to one |
-- | entered_alone | 2 | 2789 | classes that grew by one person, whose entry is known |
-- | entered_value | 2 | 2789 | people who entered classes that gained one sensitive value, and lost none |
-- | backward_anonymity | 1 | NULL | fewest records of the second release that it leaves for a person who entered |
-- | bcf_anonymity | 1 | NULL | the smallest of the three anonymities |

-- Ages in one month and bands of ages in the other: they share hardly any class, and `status` reports this.
SELECT figure, value, split_part(status, ':', 1) AS status
FROM compare_releases(january, coarse_february, ['age', 'sex'])
WHERE figure IN ('common_classes', 'followed');
-- | figure | value | status |
-- | --- | --- | --- |
-- | followed | 0 | few_comparable |
-- | common_classes | 143 | ok |
