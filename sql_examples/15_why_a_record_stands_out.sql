-- Why a record stands out: the smallest sets of columns that single it out, and what they score.

CREATE TEMP TABLE people AS SELECT row_number() OVER () AS id, * FROM demo_people();
SET VARIABLE known = ['age', 'sex', 'postcode', 'marital_status', 'education'];

-- Who stands out most (SUDA): the fewer columns it takes, and the more sets do it, the higher the score.
CREATE TEMP TABLE scores AS FROM suda_scores(people, getvariable('known'), key := 'id', dis := 0.05);

SELECT record, subsets, smallest_size, suda_score, round(dis_suda, 3) AS dis_suda
FROM scores ORDER BY suda_score DESC, record LIMIT 3;
-- | record | subsets | smallest_size | suda_score | dis_suda |
-- | --- | --- | --- | --- | --- |
-- | 772 | 4 | 2 | 24 | 0.262 |
-- | 2723 | 4 | 2 | 24 | 0.262 |
-- | 882 | 4 | 2 | 20 | 0.218 |

-- The reasons for one record: nobody else has these values together; without any one of them, others do.
SELECT "columns", size, score
FROM suda_scores(people, getvariable('known'), key := 'id', output := 'subsets')
WHERE record = (SELECT record FROM scores ORDER BY suda_score DESC, record LIMIT 1);
-- | columns | size | score |
-- | --- | --- | --- |
-- | age, sex | 2 | 6 |
-- | age, postcode | 2 | 6 |
-- | age, marital_status | 2 | 6 |
-- | age, education | 2 | 6 |

-- Which columns cause the score of that record, and those of the whole table?
SELECT column_name, subsets, score, round(contribution, 3) AS contribution
FROM suda_scores(people, getvariable('known'), key := 'id', output := 'columns')
WHERE record = (SELECT record FROM scores ORDER BY suda_score DESC, record LIMIT 1)
ORDER BY contribution DESC, column_name;
-- | column_name | subsets | score | contribution |
-- | --- | --- | --- | --- |
-- | age | 4 | 24 | 1 |
-- | education | 1 | 6 | 0.25 |
-- | marital_status | 1 | 6 | 0.25 |
-- | postcode | 1 | 6 | 0.25 |
-- | sex | 1 | 6 | 0.25 |

SELECT column_name, round(sum(score) / (SELECT sum(suda_score) FROM scores), 3) AS contribution
FROM suda_scores(people, getvariable('known'), output := 'columns')
GROUP BY column_name ORDER BY contribution DESC;
-- | column_name | contribution |
-- | --- | --- |
-- | age | 0.947 |
-- | postcode | 0.81 |
-- | education | 0.408 |
-- | marital_status | 0.247 |
-- | sex | 0.209 |
