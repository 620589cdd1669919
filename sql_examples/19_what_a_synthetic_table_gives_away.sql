-- Attacking a synthetic table: what it reveals about the people that it was made from.

-- Two random halves of the people: one is used to make the table, the other is the control group.
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

SELECT attack, column_name, figure, round(original, 3) AS original, round(holdout, 3) AS holdout,
  round(excess, 3) AS excess, round(low, 3) AS low, round(high, 3) AS high
FROM audit_synthetic(used, leaky, ['age', 'postcode'], sensitive := ['sex'], holdout := unused)
WHERE NOT starts_with(figure, 'true_positives');
-- | attack | column_name | figure | original | holdout | excess | low | high |
-- | --- | --- | --- | --- | --- | --- | --- | --- |
-- | replicated_uniques | NULL | share | 0.109 | 0.096 | 0.013 | -0.009 | 0.034 |
-- | exact_presence | NULL | share | 0.514 | 0.473 | 0.041 | 0.005 | 0.076 |
-- | disclosive_correct | sex | share | 0.197 | 0.208 | -0.011 | -0.04 | 0.017 |
-- | singling_out_univariate | NULL | share_of_predicates | 0.667 | 0.667 | 0 | -0.535 | 0.538 |
-- | singling_out_multivariate | NULL | share_of_predicates | 0.376 | 0.248 | 0.129 | -0.003 | 0.256 |
-- | linkability | postcode / age, sex | share | 0.001 | 0.001 | 0 | -0.004 | 0.005 |
-- | inference | age | share | 0.098 | 0.097 | 0.001 | -0.02 | 0.023 |
-- | inference | postcode | share | 0.102 | 0.098 | 0.004 | -0.017 | 0.026 |
-- | inference | sex | share | 0.516 | 0.516 | -0 | -0.036 | 0.036 |
-- | sure_inference | sex / age | share | 0.001 | 0 | 0.001 | -0.004 | 0.008 |
-- | sure_inference | sex / age | precision | 1 | 0 | 1 | -0.031 | 1 |
-- | strongest_inference | sex / postcode | share | 0.483 | 0.468 | 0.015 | -0.036 | 0.065 |
-- | strongest_inference | sex / postcode | precision | 0.527 | 0.526 | 0.001 | -0.052 | 0.054 |
-- | copied_records | NULL | weighted_share | 0.286 | 0.223 | 0.063 | 0.017 | 0.136 |
-- | equal_record | NULL | auc | 0.52 | 0.5 | 0.02 | 0.002 | 0.038 |
-- | rare_equal_record | NULL | auc | 0.516 | 0.5 | 0.016 | -0.003 | 0.035 |
-- | equal_but_one_column | NULL | auc | 0.52 | 0.5 | 0.02 | 0.003 | 0.037 |
-- | class_conditional | NULL | auc | 0.512 | 0.5 | 0.012 | -0.008 | 0.031 |
-- | nearest_record | NULL | auc | 0.518 | 0.5 | 0.018 | -0.002 | 0.037 |
-- | nearest_of_rare_person | NULL | auc | 0.524 | 0.5 | 0.024 | 0.004 | 0.044 |
-- | density_ratio | NULL | auc | 0.516 | 0.5 | 0.016 | -0.005 | 0.036 |
-- | local_neighbourhood | NULL | auc | 0.52 | 0.5 | 0.02 | 0 | 0.039 |
-- | strongest_membership | NULL | copied_records: weighted_share | 0.286 | 0.223 | 0.063 | 0.011 | 0.145 |
