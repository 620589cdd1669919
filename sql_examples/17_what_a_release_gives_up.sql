-- Comparing a release with its original: what was changed, and what an attacker still gets right.

CREATE TEMP TABLE people AS SELECT row_number() OVER () AS id, * FROM demo_people();

CREATE TEMP TABLE released AS
SELECT id, age // 10 * 10 || ' to ' || (age // 10 * 10 + 9) AS age, sex,
  CASE WHEN equivalence_class_size(age // 10, postcode) < 5 THEN NULL ELSE postcode END AS postcode
FROM people;

-- `key` identifies the person of each released record. No attacker knows it; it serves to count right links.
SELECT measure, round(original, 4) AS original, round(released, 4) AS released
FROM compare(people, released, ['age', 'sex', 'postcode'], key := 'id');
-- | measure | original | released |
-- | --- | --- | --- |
-- | records | 3000 | 3000 |
-- | classes | 1730 | 351 |
-- | k | 1 | 1 |
-- | unique_records | 1051 | 8 |
-- | uniqueness | 0.3503 | 0.0027 |
-- | highest_risk | 1 | 1 |
-- | average_risk | 0.5767 | 0.117 |
-- | average_class_risk | 0.7641 | 0.2241 |
-- | records_at_risk | 0.853 | 0.1257 |
-- | classes_changed | 0 | 1716 |
-- | records_removed | 0 | 0 |
-- | records_added | 0 | 0 |
-- | records_changed | 0 | 3000 |
-- | cells_changed | 0 | 3142 |
-- | cells_suppressed | 0 | 142 |
-- | information_loss | 0 | 0.1847 |
-- | correct_links | 0.5767 | 0.115 |
-- | certain_links | 0.3503 | 0.0027 |
-- | highest_link | 1 | 1 |
-- | correct_candidates | 0.5767 | 0.0718 |
-- | links_by_likelihood | 0.5767 | 0.115 |
-- | links_by_distance | 0.5767 | NULL |
-- | links_by_exact_match | 0.5767 | 0 |
-- | links_by_some_columns | 0.5767 | 0.0153 |

SELECT column_name, cells_changed, cells_suppressed, round(information_loss, 4) AS lost, understood
FROM compare(people, released, ['age', 'sex', 'postcode'], key := 'id', output := 'columns');
-- | column_name | cells_changed | cells_suppressed | lost | understood |
-- | --- | --- | --- | --- | --- |
-- | age | 3000 | 0 | 0.5073 | recoded |
-- | sex | 0 | 0 | 0 | unchanged |
-- | postcode | 142 | 142 | 0.0468 | by frequency |
