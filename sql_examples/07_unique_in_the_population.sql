-- From the share of people who have a record's values to the chance that a match is right.

-- One person in a hundred thousand: unique among a million? And is a match on them right?
SELECT n,
       round(cell_risk(1e-5, n), 6) AS uniqueness,
       round(cell_risk(1e-5, n, 'correctness'), 6) AS correctness
FROM (VALUES (1000), (100000), (1000000)) AS populations(n);
-- | n | uniqueness | correctness |
-- | --- | --- | --- |
-- | 1000 | 0.99006 | 0.995022 |
-- | 100000 | 0.367881 | 0.632122 |
-- | 1000000 | 4.5e-05 | 0.099995 |

-- A person who is unique with probability 0.58 in a town of 54,805 is found correctly with probability 0.77.
SELECT round(cell_risk(0.58, 54805, 'correctness_of_uniqueness'), 2) AS correctness;
-- | correctness |
-- | --- |
-- | 0.77 |
