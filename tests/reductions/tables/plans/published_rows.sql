-- published_rows([january, february])
SELECT row_number() OVER () AS place, tbl, text, 0::BIGINT AS records_dropped,
  'value' AS nulls
FROM (
  SELECT 1::BIGINT AS tbl, text
  FROM (
    SELECT 1
  ) AS reid_one
  LEFT JOIN (
    SELECT to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text
    FROM query_table('january')
  ) AS reid_rows ON true
  UNION ALL
  SELECT 2::BIGINT AS tbl, text
  FROM (
    SELECT 1
  ) AS reid_one
  LEFT JOIN (
    SELECT to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text
    FROM query_table('february')
  ) AS reid_rows ON true
)
