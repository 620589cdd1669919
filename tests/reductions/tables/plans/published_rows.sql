-- published_rows([january, february])
SELECT row_number() OVER () AS place, tbl, text, 0::BIGINT AS records_dropped,
  'value' AS nulls
FROM (
  SELECT 1::BIGINT AS tbl, to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text
  FROM query_table('january')
  UNION ALL
  SELECT 2::BIGINT AS tbl, to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text
  FROM query_table('february')
)
