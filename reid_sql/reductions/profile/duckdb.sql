-- How DuckDB counts single columns.

-- What kind of values a column has, under a name that it has on every engine.
MACRO reid_kind_of_values(type) AS
CASE WHEN type LIKE '%]' THEN 'other'
WHEN regexp_full_match(type, 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM') THEN 'integer'
WHEN type LIKE 'DECIMAL%' THEN 'decimal'
WHEN type IN ('FLOAT', 'DOUBLE') THEN 'float'
WHEN type IN ('BOOLEAN', 'DATE') THEN lower(type)
WHEN type LIKE 'TIMESTAMP%' THEN 'timestamp'
WHEN type LIKE 'TIME%' THEN 'time'
WHEN type IN ('VARCHAR', 'UUID', 'JSON') OR type LIKE 'ENUM%' THEN 'text'
ELSE 'other' END;

-- The columns that are asked for, with their places.
PLAN reid_described(source, columns) AS
SELECT column_name, column_type, place
FROM (
  SELECT column_name, column_type,
  {% if columns IS NULL %}
    row_number() OVER () AS place
  {% else %}
    list_position(reid_folded({{ reid_texts(columns) }}), reid_fold(column_name)) AS place
  {% endif %}
  FROM (DESCRIBE FROM {{ source }})
)
WHERE place > 0 AND reid_is_exact()
;

-- How many records, n, have each value of each column, written as text t. Where the columns are not known,
-- they are told apart by keys that have the equality of their values.
PLAN reid_values(source, columns) AS
{% if columns IS NULL %}
SELECT reid_name, any_value(reid_value.t) AS t, count(*) AS n
FROM (
  UNPIVOT (
    SELECT {'k': create_sort_key({'v': COLUMNS(*)}, 'ASC NULLS LAST'), 't': COLUMNS(*)::VARCHAR}
    FROM {{ source }}
  )
  ON COLUMNS(*) INTO NAME reid_name VALUE reid_value
)
GROUP BY reid_name, reid_value.k
{% else %}
{% for c in columns join ' UNION ALL ' %}
SELECT {{ reid_text(c) }} AS reid_name, q1::VARCHAR AS t, count(*) AS n
FROM {{ reid_rows(source, [c], 'value') }}
GROUP BY q1
{% endfor %}
{% endif %}
;

PLAN reid_counts_of_columns(source, columns) AS
WITH reid_read AS (
  SELECT reid_name, t, n,
    CASE WHEN regexp_full_match(t, ${NUMBER_PATTERN}) THEN try_cast(t AS DOUBLE) END AS number
  FROM ({{ reid_values(source, columns) }})
),
reid_told AS (
  SELECT *, coalesce(
    lower(trim(t)) IN ${MISSING_WORDS} OR number IN ${MISSING_NUMBERS}
    OR substr(t, 1, 10) IN ${MISSING_DATES}, false) AS marked
  FROM reid_read
)
SELECT place, any_value(column_name) AS column_name,
  reid_kind_of_values(any_value(column_type)) AS column_type,
  coalesce(sum(n), 0)::BIGINT AS records,
  coalesce(sum(n) FILTER (t IS NULL), 0)::BIGINT AS missing,
  count(t) AS distinct_values,
  coalesce(sum(n) FILTER (n = 1), 0)::BIGINT AS unique_records,
  coalesce(sum(n::HUGEINT * (n - 1)), 0)::HUGEINT AS pairs_alike,
  coalesce(sum(n * ln(n)), 0)::DOUBLE AS n_log_n,
  count(number) FILTER (NOT marked) AS numbers,
  count(number) FILTER (NOT marked AND number = floor(number)) AS whole,
  coalesce(min(number) FILTER (NOT marked), 0)::DOUBLE AS least,
  coalesce(max(number) FILTER (NOT marked), 0)::DOUBLE AS greatest,
  count(*) FILTER (NOT marked AND regexp_full_match(t, ${DATE_PATTERN})) AS dates,
  count(*) FILTER (NOT marked AND regexp_full_match(t, ${PADDED_PATTERN})) AS padded,
  count(*) FILTER (NOT marked AND length(t) - length(replace(t, ' ', '')) > 1) AS spaced,
  coalesce(min(length(t)) FILTER (NOT marked), 0)::BIGINT AS shortest,
  coalesce(max(length(t)) FILTER (NOT marked), 0)::BIGINT AS longest,
  coalesce(sum(length(t)) FILTER (NOT marked), 0)::BIGINT AS letters,
  coalesce(list(n::VARCHAR || ':' || t) FILTER (marked), []::VARCHAR[]) AS candidates
FROM ({{ reid_described(source, columns) }})
  LEFT JOIN reid_told ON reid_fold(column_name) = reid_fold(reid_name)
GROUP BY place
;

PLAN reid_plan_column_counts(source, columns) AS
{% if columns IS NULL %}
{% call reid_treated(source, []::VARCHAR[], 'value') %}
  {{ reid_counts_of_columns(source, columns) }}
{% endcall %}
{% else %}
{% call reid_guarded('columns', source, columns) %}
{% call reid_treated(source, columns, 'value') %}{{ reid_counts_of_columns(source, columns) }}{% endcall %}
{% endcall %}
{% endif %}
;
