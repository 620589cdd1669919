-- How DuckDB says the distinct records on the columns that a scenario speaks of.

-- A list of names in a document that was read.
MACRO reid_named(document, part) AS
coalesce(json_extract_string(document, '$.' || part || '[*]'), []::VARCHAR[]);

MACRO reid_every(columns, told) AS
list_concat(columns, list_filter(told, lambda reid_c: NOT list_contains(columns, reid_c)));

-- The distinct records on the columns, each value as a code (0 for NULL), the values of the told columns as
-- texts, and the records that hold each: by the key, else by their place in the scan, counted before any is
-- left out.
PLAN reid_known_records(tbl, columns, told, key, nulls, every) AS
WITH reid_distinct AS MATERIALIZED (
  SELECT row_number() OVER () AS id, *
  FROM (
    SELECT {{ reid_numbered(every) }}, count(*) AS records, list(record) AS members
    FROM (
      SELECT {% if key IS NULL %}row_number() OVER () - 1{% else %}{{ reid_name(key) }}{% endif %},
        {{ reid_columns(every) }}
      FROM {{ reid_table(tbl) }} AS reid_source WHERE {{ reid_told_apart(every) }}
    ) AS reid_rows(record, {{ reid_numbered(every) }})
    {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
    GROUP BY {{ reid_numbered(every) }}
  )
)
SELECT id AS place, records, {{ reid_codes(columns) }} AS codes,
  [{% for c in told join ', ' %}q{{ list_position(every, c) }}::VARCHAR{% endfor %}]::VARCHAR[] AS texts,
    members
FROM reid_distinct {{ reid_coding(columns, 'reid_distinct', false) }}
WHERE (SELECT reid_in_limit(count(*), ${KNOWN_BYTES}) FROM reid_distinct)
;

PLAN reid_plan_known(tbl, columns, told, key, nulls) AS
{% set every = reid_every(columns, told) %}
{% call reid_guarded(CASE WHEN key IS NULL THEN ${SCENARIO_COLUMNS.words} ELSE ${KEYED_COLUMNS.words} END,
  [reid_table(tbl)], reid_every(every, CASE WHEN key IS NULL THEN [] ELSE [key::VARCHAR] END)) %}
{% call reid_treated(tbl, columns, nulls) %}
  {% call reid_by_key(tbl, columns, key::VARCHAR, nulls) %}
    {{ reid_known_records(tbl, columns, told, key::VARCHAR, nulls, every) }}
  {% endcall %}
{% endcall %}
{% endcall %}
;

PLAN reid_plan_known_records(tbl, scenario, key, nulls) AS
{% set document = scenario %}
{{ reid_plan_known(tbl, reid_listed(${SCENARIO_COLUMNS.words}, reid_named(document, 'columns')),
  reid_named(document, 'told'), key, nulls) }}
;
