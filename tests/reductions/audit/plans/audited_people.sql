-- audited_tables(original, synthetic, ['age', 'sex'], ['diagnosis'], holdout, 'person')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_rows AS MATERIALIZED (
    SELECT 0 AS side, q1, q2, q3, dense_rank() OVER (ORDER BY q4 ASC NULLS FIRST) AS person
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis",
        reid_source."person"
      FROM query_table('original') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    UNION ALL
    SELECT 1 AS side, q1, q2, q3, dense_rank() OVER (ORDER BY q4 ASC NULLS FIRST) AS person
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis",
        reid_source."person"
      FROM query_table('synthetic') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    UNION ALL
    SELECT 2 AS side, q1, q2, q3, dense_rank() OVER (ORDER BY q4 ASC NULLS FIRST) AS person
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis",
        reid_source."person"
      FROM query_table('holdout') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
  ),
  reid_distinct AS MATERIALIZED (
    SELECT q1, q2, q3, side, person, (side = 0)::BIGINT AS originals, (side = 1)::BIGINT AS synthetics,
      (side = 2)::BIGINT AS controls
    FROM reid_rows
    GROUP BY q1, q2, q3, side, person
  )
  SELECT ['age', 'sex', 'diagnosis'] AS names, [false, false, true]::BOOLEAN[] AS is_sensitive,
    [coalesce(regexp_full_match(any_value(typeof(q1)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*'), false),
    coalesce(regexp_full_match(any_value(typeof(q2)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*'), false),
    coalesce(regexp_full_match(any_value(typeof(q3)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*'), false)] AS is_ordinal,
    [coalesce(list(coalesce(code1, 0)::INTEGER), []::INTEGER[]), coalesce(list(coalesce(code2, 0)::INTEGER), []::INTEGER[]),
    coalesce(list(coalesce(code3, 0)::INTEGER), []::INTEGER[])] AS codes,
    coalesce(list(originals::BIGINT), []::BIGINT[]) AS originals, coalesce(list(synthetics::BIGINT), []::BIGINT[]) AS synthetics,
    coalesce(list(controls::BIGINT), []::BIGINT[]) AS controls, [true] AS has_holdout,
    coalesce(list(person::BIGINT), []::BIGINT[]) AS people, [(
    SELECT [coalesce(sum(synthetics) FILTER (originals = 0 AND is_known AND form IS NOT NULL), 0)::BIGINT,
      coalesce(sum(controls) FILTER (originals = 0 AND is_known AND form IS NOT NULL), 0)::BIGINT]
    FROM (
      SELECT *, max(originals) OVER (PARTITION BY form) > 0 AS is_known
      FROM (
        SELECT sum(originals) AS originals, sum(synthetics) AS synthetics,
          sum(controls) AS controls, CASE WHEN typeof(q1) = 'VARCHAR' OR typeof(q1) LIKE 'ENUM%' THEN ltrim(regexp_replace(CASE
          WHEN strlen(q1::VARCHAR) = length(q1::VARCHAR) THEN CASE WHEN strlen(q1::VARCHAR) = length(q1::VARCHAR) THEN lower(q1::VARCHAR)
          ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(q1::VARCHAR, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END
          ELSE strip_accents(translate(replace(replace(replace(replace(CASE WHEN strlen(q1::VARCHAR) = length(q1::VARCHAR) THEN lower(q1::VARCHAR)
          ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(q1::VARCHAR, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øđðłħıŧ', 'oddlhit')) END, '[.,]0+\s*$|[\s_]+', '', 'g'), '0') END AS form
        FROM reid_distinct
        GROUP BY q1
      )
    )
  ), (
    SELECT [coalesce(sum(synthetics) FILTER (originals = 0 AND is_known AND form IS NOT NULL), 0)::BIGINT,
      coalesce(sum(controls) FILTER (originals = 0 AND is_known AND form IS NOT NULL), 0)::BIGINT]
    FROM (
      SELECT *, max(originals) OVER (PARTITION BY form) > 0 AS is_known
      FROM (
        SELECT sum(originals) AS originals, sum(synthetics) AS synthetics,
          sum(controls) AS controls, CASE WHEN typeof(q2) = 'VARCHAR' OR typeof(q2) LIKE 'ENUM%' THEN ltrim(regexp_replace(CASE
          WHEN strlen(q2::VARCHAR) = length(q2::VARCHAR) THEN CASE WHEN strlen(q2::VARCHAR) = length(q2::VARCHAR) THEN lower(q2::VARCHAR)
          ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(q2::VARCHAR, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END
          ELSE strip_accents(translate(replace(replace(replace(replace(CASE WHEN strlen(q2::VARCHAR) = length(q2::VARCHAR) THEN lower(q2::VARCHAR)
          ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(q2::VARCHAR, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øđðłħıŧ', 'oddlhit')) END, '[.,]0+\s*$|[\s_]+', '', 'g'), '0') END AS form
        FROM reid_distinct
        GROUP BY q2
      )
    )
  ), (
    SELECT [coalesce(sum(synthetics) FILTER (originals = 0 AND is_known AND form IS NOT NULL), 0)::BIGINT,
      coalesce(sum(controls) FILTER (originals = 0 AND is_known AND form IS NOT NULL), 0)::BIGINT]
    FROM (
      SELECT *, max(originals) OVER (PARTITION BY form) > 0 AS is_known
      FROM (
        SELECT sum(originals) AS originals, sum(synthetics) AS synthetics,
          sum(controls) AS controls, CASE WHEN typeof(q3) = 'VARCHAR' OR typeof(q3) LIKE 'ENUM%' THEN ltrim(regexp_replace(CASE
          WHEN strlen(q3::VARCHAR) = length(q3::VARCHAR) THEN CASE WHEN strlen(q3::VARCHAR) = length(q3::VARCHAR) THEN lower(q3::VARCHAR)
          ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(q3::VARCHAR, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END
          ELSE strip_accents(translate(replace(replace(replace(replace(CASE WHEN strlen(q3::VARCHAR) = length(q3::VARCHAR) THEN lower(q3::VARCHAR)
          ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(q3::VARCHAR, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øđðłħıŧ', 'oddlhit')) END, '[.,]0+\s*$|[\s_]+', '', 'g'), '0') END AS form
        FROM reid_distinct
        GROUP BY q3
      )
    )
  )] AS written_otherwise
  FROM reid_distinct
  LEFT JOIN (
    SELECT v1, row_number() OVER (ORDER BY v1 ASC NULLS LAST) AS code1
    FROM (
      SELECT DISTINCT q1 AS v1
      FROM reid_distinct
      WHERE q1 IS NOT NULL
    )
  ) ON q1 = v1
  LEFT JOIN (
    SELECT v2, row_number() OVER (ORDER BY v2 ASC NULLS LAST) AS code2
    FROM (
      SELECT DISTINCT q2 AS v2
      FROM reid_distinct
      WHERE q2 IS NOT NULL
    )
  ) ON q2 = v2
  LEFT JOIN (
    SELECT v3, row_number() OVER (ORDER BY v3 ASC NULLS LAST) AS code3
    FROM (
      SELECT DISTINCT q3 AS v3
      FROM reid_distinct
      WHERE q3 IS NOT NULL
    )
  ) ON q3 = v3
) AS reid_counted
