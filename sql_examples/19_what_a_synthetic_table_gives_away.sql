-- Attacking a synthetic table: what it gives away of the people that it was made from.

-- Two halves of the same people: one is used to make the table, the other measures what is true of everybody.
CREATE TEMP TABLE people AS SELECT row_number() OVER () AS id, * FROM demo_people();
CREATE TEMP TABLE used AS FROM people WHERE id % 2 = 0;
CREATE TEMP TABLE unused AS FROM people WHERE id % 2 = 1;

-- A table that was made carelessly: each column is drawn by itself, and one record in twenty is a copy.
CREATE TEMP TABLE leaky AS
SELECT a.age, s.sex, p.postcode
FROM (SELECT row_number() OVER (ORDER BY hash(id)) AS n, age FROM used) AS a
JOIN (SELECT row_number() OVER (ORDER BY hash(id + 1)) AS n, sex FROM used) AS s USING (n)
JOIN (SELECT row_number() OVER (ORDER BY hash(id + 2)) AS n, postcode FROM used) AS p USING (n)
WHERE n % 20 <> 0
UNION ALL
SELECT age, sex, postcode FROM used WHERE id % 40 = 0;

SELECT attack, column_name, round(original, 3) AS original, round(holdout, 3) AS holdout,
  round(excess, 3) AS excess, round(low, 3) AS low, round(high, 3) AS high
FROM audit_synthetic(used, leaky, ['age', 'postcode'], sensitive := ['sex'], holdout := unused);
-- | attack | column_name | original | holdout | excess | low | high |
-- | --- | --- | --- | --- | --- | --- | --- |
-- | replicated_uniques | NULL | 0.109 | 0.096 | 0.013 | -0.009 | 0.034 |
-- | exact_presence | NULL | 0.514 | 0.473 | 0.041 | 0.005 | 0.076 |
-- | disclosive_correct | sex | 0.197 | 0.208 | -0.011 | -0.04 | 0.017 |
