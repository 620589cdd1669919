-- households(people, 'home', ['age', 'sex'], 'drop')
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  WITH reid_members AS (
    SELECT CASE WHEN lower(q1::VARCHAR) = 'nan' THEN NULL ELSE q1 END AS q1,
      CASE WHEN CASE WHEN lower(q1::VARCHAR) = 'nan' THEN NULL ELSE q1 END IS NULL THEN row_number() OVER () END AS alone,
      dense_rank() OVER (ORDER BY q2 ASC NULLS LAST, q3 ASC NULLS LAST) AS class,
      count(*) OVER (PARTITION BY q2, q3) AS size
    FROM (
      SELECT reid_source."home", reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    WHERE q2 IS NOT NULL AND q3 IS NOT NULL
  ),
  reid_households AS (
    SELECT list(class ORDER BY class ASC) AS classes, count(*) AS members,
      1 - product(1 - 1 / size ORDER BY size) AS risk, sum(1 / size ORDER BY size) AS member_risk
    FROM reid_members
    GROUP BY q1, alone
  )
  SELECT class_size, members, risk, member_risk, sum(class_size)::BIGINT AS households
  FROM (
    SELECT count(*) AS class_size, any_value(members) AS members, any_value(risk) AS risk,
      any_value(member_risk) AS member_risk
    FROM reid_households
    GROUP BY classes
  )
  GROUP BY class_size, members, risk, member_risk
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL
) AS reid_left_out(records_dropped)
