-- Before a join: whom does it single out, and by which column of the other table?

-- 400 patients, and the register of a sports club, which has 300 of them and 60 others.
CREATE TEMP TABLE patients AS
SELECT range AS id, 20 + hash(range) % 40 // 10 * 10 AS age, hash(range, 1) % 2 AS sex FROM range(400);

CREATE TEMP TABLE members AS
SELECT range AS pid, hash(range, 2) % 25 AS sport, hash(range, 3) % 2 AS level FROM range(100, 460);

-- Nobody is unique in one of the tables. The first row is the join; the others join one column alone.
SELECT columns, people, below_k_left, below_k_right, singled_out, without
FROM join_risk(patients, members, {'id': 'pid'}, ['age', 'sex'], ['sport', 'level']);
-- | columns | people | below_k_left | below_k_right | singled_out | without |
-- | --- | --- | --- | --- | --- | --- |
-- | level, sport | 300 | 0 | 0 | 71 | NULL |
-- | sport | 300 | 0 | 0 | 71 | 0 |
-- | level | 300 | 0 | 0 | 0 | 71 |

SELECT sentence, left_only, right_only
FROM join_risk(patients, members, {'id': 'pid'}, ['age', 'sex'], ['sport', 'level']) LIMIT 1;
-- | sentence | left_only | right_only |
-- | --- | --- | --- |
-- | Of 300 people in both tables, the join singles out 71 (23.7 %) whom neither table singles out alone; 'sport' adds most: without it, 0. | 100 | 60 |
