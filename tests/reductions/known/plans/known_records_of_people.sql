-- known_records(people, '{"columns": ["age", "sex"], "told": ["state"]}', None, None, 'value', 'person', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT reid_answer_of.*
  FROM (
    WITH reid_distinct AS MATERIALIZED (
      SELECT row_number() OVER () AS id, *
      FROM (
        SELECT q1, q2, count(*) AS records, list(record) AS members, -1::BIGINT AS people
        FROM (
          SELECT "person", reid_source."age", reid_source."sex"
          FROM (
            SELECT q1 AS "age", q2 AS "sex", entity AS "person"
            FROM (
              SELECT *, count(*) OVER (PARTITION BY entity) AS several
              FROM (
                SELECT q1, q2, q3 AS entity, count(*) AS records
                FROM (
                  SELECT reid_source."age", reid_source."sex", reid_source."person"
                  FROM query_table('people') AS reid_source
                ) AS reid_source_rows(q1, q2, q3)
                GROUP BY q1, q2, q3
              )
            )
            WHERE CASE WHEN several > 1 THEN error('people must have one value in each column of the scenario, got people of several; pass a table with a row a person')::BOOLEAN
              ELSE true END
          ) AS reid_source
        ) AS reid_source_rows(record, q1, q2)
        GROUP BY q1, q2
      )
    )
    SELECT id AS place, records, [coalesce(code1, 0), coalesce(code2, 0)] AS codes,
      []::VARCHAR[] AS texts, people, members, NULL::BIGINT[] AS near
    FROM reid_distinct
    LEFT JOIN (
      SELECT v1, row_number() OVER () AS code1
      FROM (
        SELECT DISTINCT q1 AS v1
        FROM reid_distinct
        WHERE q1 IS NOT NULL
      )
    ) ON q1 = v1
    LEFT JOIN (
      SELECT v2, row_number() OVER () AS code2
      FROM (
        SELECT DISTINCT q2 AS v2
        FROM reid_distinct
        WHERE q2 IS NOT NULL
      )
    ) ON q2 = v2
    WHERE (
      SELECT CASE WHEN count(*) * 600::HUGEINT > least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT THEN error(('memory_limit must be at least ' || (count(*) * 600::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' distinct records' || ', got ' || current_setting('memory_limit') || '; raise it (SET memory_limit, --memory-limit or REID_SQL_MEMORY_LIMIT), or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
        ELSE true END
      FROM reid_distinct
    )
  ) AS reid_answer_of, (
    SELECT CASE WHEN count(DISTINCT q1) + least(1, count(*) - count(q1)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
      ELSE true END AS reid_is_key
    FROM (
      SELECT reid_source."person", reid_source."age", reid_source."sex"
      FROM (
        SELECT q1 AS "age", q2 AS "sex", entity AS "person"
        FROM (
          SELECT *, count(*) OVER (PARTITION BY entity) AS several
          FROM (
            SELECT q1, q2, q3 AS entity, count(*) AS records
            FROM (
              SELECT reid_source."age", reid_source."sex", reid_source."person"
              FROM query_table('people') AS reid_source
            ) AS reid_source_rows(q1, q2, q3)
            GROUP BY q1, q2, q3
          )
        )
        WHERE CASE WHEN several > 1 THEN error('people must have one value in each column of the scenario, got people of several; pass a table with a row a person')::BOOLEAN
          ELSE true END
      ) AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
  )
  WHERE reid_is_key
) AS reid_counted
