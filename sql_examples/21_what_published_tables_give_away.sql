-- What tables of counts reveal together: unsafe cells, cells that totals reveal, differences between tables.

CREATE TEMP TABLE people AS FROM demo_people();

-- Which cells of a table by education and marital status are unsafe, and by which rule?
SELECT education, marital_status, records, unsafe
FROM safe_table(people, ['education', 'marital_status'], k := 5)
WHERE len(unsafe) > 0
ORDER BY ALL;
-- | education | marital_status | records | unsafe |
-- | --- | --- | --- | --- |
-- | doctorate | widowed | 3 | few_people |
-- | NULL | divorced | 3 | few_people |
-- | NULL | widowed | 2 | few_people |

-- Hiding only the unsafe cells is not enough: the totals reveal them.
CREATE TEMP TABLE published AS
FROM safe_table(people, ['education', 'marital_status'], k := 5, totals := 'margins', suppress := 'primary');
SELECT cell, low, high, finding, revealing_sum FROM audit_tables(['published'], k := 5) ORDER BY ALL;
-- | cell | low | high | finding | revealing_sum |
-- | --- | --- | --- | --- | --- |
-- | education = NULL, marital_status = divorced | 3 | 3 | recovered | [marital_status = divorced] - [education = bachelor, marital_status = divorced] - [education = doctorate, marital_status = divorced] - [education = master, marital_status = divorced] - [education = primary, marital_status = divorced] - [education = secondary, marital_status = divorced] - [education = vocational, marital_status = divorced] |
-- | education = NULL, marital_status = widowed | 2 | 2 | recovered | [education = NULL] + [education = bachelor, marital_status = divorced] + [education = doctorate, marital_status = divorced] + [education = master, marital_status = divorced] + [education = primary, marital_status = divorced] + [education = secondary, marital_status = divorced] + [education = vocational, marital_status = divorced] - [education = NULL, marital_status = married] - [education = NULL, marital_status = single] - [marital_status = divorced] |
-- | education = doctorate, marital_status = widowed | 3 | 3 | recovered | [education = doctorate] - [education = doctorate, marital_status = divorced] - [education = doctorate, marital_status = married] - [education = doctorate, marital_status = single] |

-- Secondary suppression hides more cells, so that each interval is at least 5 people wide.
CREATE TEMP TABLE protected AS
FROM safe_table(
  people, ['education', 'marital_status'], k := 5, totals := 'margins', suppress := 'secondary'
);
SELECT status, count(*) AS cells FROM protected GROUP BY ALL ORDER BY ALL;
-- | status | cells |
-- | --- | --- |
-- | primary | 3 |
-- | published | 33 |
-- | secondary | 4 |
SELECT finding, count(*) AS cells, min(width) AS narrowest
FROM audit_tables(['protected'], k := 5) GROUP BY ALL ORDER BY ALL;
-- | finding | cells | narrowest |
-- | --- | --- | --- |
-- | protected | 7 | 5 |

-- Two safe tables differ by three people, who withdrew after the first.
CREATE TEMP TABLE january AS SELECT sex, count(*) AS records FROM people GROUP BY ALL;
CREATE TEMP TABLE february AS
SELECT sex, count(*) AS records FROM (FROM people LIMIT 2997) GROUP BY ALL;
SELECT cell, low, high, finding, revealing_sum
FROM audit_tables(['january', 'february'], people := 'nested') ORDER BY ALL;
-- | cell | low | high | finding | revealing_sum |
-- | --- | --- | --- | --- | --- |
-- | sex = F, in table 1 and not in table 2 | 1 | 1 | recovered | [sex = F] - [sex = F, in table 2] |
-- | sex = M, in table 1 and not in table 2 | 2 | 2 | recovered | [sex = M] - [sex = M, in table 2] |
