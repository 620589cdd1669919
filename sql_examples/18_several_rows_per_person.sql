-- Several rows per person: who is singled out by some of them?

-- Visits of 500 people to 16 places in 30 days; each goes to few places often.
CREATE TEMP TABLE visits AS
SELECT range // 12 AS person, hash(range // 12, hash(range) % 5) % 16 AS place, hash(range, 1) % 30 AS day
FROM range(6000);

-- An attacker who knows one visit of a person: the worst one. A class counts people.
SELECT records, k, unique_records, round(average_risk, 4) AS average_risk
FROM risk_summary(visits, ['place', 'day'], entity := 'person');
-- | records | k | unique_records | average_risk |
-- | --- | --- | --- | --- |
-- | 500 | 4 | 0 | 0.1295 |

-- An attacker who knows several visits, chosen at random: the share of people whom they single out.
SELECT points, round(uniqueness, 3) AS uniqueness, round(correctness, 3) AS correctness, median_matches
FROM unicity(visits, 'person', ['place', 'day']);
-- | points | uniqueness | correctness | median_matches |
-- | --- | --- | --- | --- |
-- | 1 | 0 | 0.084 | 13 |
-- | 2 | 0.516 | 0.727 | 1 |
-- | 3 | 0.957 | 0.978 | 1 |
-- | 4 | 0.997 | 0.999 | 1 |

-- With coarser columns: four districts in place of 16 places, five weeks in place of 30 days.
CREATE TEMP TABLE coarser AS
SELECT person, place, day, place // 4 AS district, day // 7 AS week FROM visits;
SELECT points, round(fine.uniqueness, 3) AS place_and_day, round(week.uniqueness, 3) AS place_and_week,
  round(coarse.uniqueness, 3) AS district_and_week
FROM unicity(coarser, 'person', ['place', 'day']) AS fine
JOIN unicity(coarser, 'person', ['place', 'week']) AS week USING (points)
JOIN unicity(coarser, 'person', ['district', 'week']) AS coarse USING (points)
ORDER BY points;
-- | points | place_and_day | place_and_week | district_and_week |
-- | --- | --- | --- | --- |
-- | 1 | 0 | 0 | 0 |
-- | 2 | 0.516 | 0.002 | 0 |
-- | 3 | 0.957 | 0.055 | 0 |
-- | 4 | 0.997 | 0.286 | 0.009 |

-- An attacker who knows all visits of a person.
SELECT people, round(uniqueness, 3) AS uniqueness, median_matches
FROM unicity(coarser, 'person', ['district', 'week'], points := NULL);
-- | people | uniqueness | median_matches |
-- | --- | --- | --- |
-- | 500 | 0.51 | 1 |

-- Who is exposed: how few rows single a person out, if an attacker knows the right ones. An upper bound.
SELECT known_rows, count(*) AS people
FROM unicity(visits, 'person', ['place', 'day'], output := 'people') WHERE matches = 1
GROUP BY known_rows;
-- | known_rows | people |
-- | --- | --- |
-- | 2 | 500 |

-- Sets: who bought what. The attacker knows two purchases of a person; how often does that name the right
-- one?
CREATE TEMP TABLE purchases AS
SELECT range // 5 AS person, (range * 7919 + range // 5 * (range % 5)) % 23 AS item FROM range(2000);
SELECT n, round(correctness, 4) AS correctness, standard_error, people
FROM unicity(purchases, 'person', ['item'], points := 2, sizes := [10, 100, 400], output := 'curve');
-- | n | correctness | standard_error | people |
-- | --- | --- | --- | --- |
-- | 10 | 0.7519 | 0 | 400 |
-- | 100 | 0.1634 | 0 | 400 |
-- | 400 | 0.041 | 0 | 400 |
