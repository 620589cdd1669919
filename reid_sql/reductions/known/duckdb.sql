-- How DuckDB says the distinct records on the columns that a scenario speaks of.

-- A list of names in a document that was read.
MACRO reid_named(document, part) AS
coalesce(json_extract_string(document, '$.' || part || '[*]'), []::VARCHAR[]);

MACRO reid_every(columns, told) AS
list_concat(columns, list_filter(told, lambda reid_c: NOT list_contains(columns, reid_c)));

-- The distinct records on the columns, each value as a code (0 for NULL), the values of the told columns as
-- texts, and the records that hold each: by the key, else by their place in the scan, counted before any is
-- left out.
PLAN reid_known_records(tbl, columns, told, key, nulls, every, entity) AS
WITH reid_distinct AS MATERIALIZED (
  SELECT row_number() OVER () AS id, *
  FROM (
    SELECT {{ reid_numbered(every) }}, count(*) AS records, list(record) AS members
    FROM (
      {% if entity IS NOT NULL %}{{ reid_one_record_a_person(tbl, columns, every, entity, nulls) }}{% else %}
      SELECT {% if key IS NULL %}row_number() OVER () - 1{% else %}{{ reid_name(key) }}{% endif %},
        {{ reid_columns(every) }}
      FROM {{ reid_table(tbl) }} AS reid_source WHERE {{ reid_told_apart(every) }}
      {% endif %}
    ) AS reid_rows(record, {{ reid_numbered(every) }})
    {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
    GROUP BY {{ reid_numbered(every) }}
  )
)
SELECT id AS place, records, {{ reid_codes(columns) }} AS codes,
  [{% for c in told join ', ' %}q{{ list_position(every, c) }}::VARCHAR{% endfor %}]::VARCHAR[] AS texts,
    members
FROM reid_distinct {{ reid_coding(columns, 'reid_distinct', false) }}
;

-- The people, NULL one of them, each with their values; people of several are refused, as an attacker could
-- know any.
PLAN reid_one_record_a_person(tbl, columns, every, entity, nulls) AS
SELECT entity, {{ reid_numbered(every) }}
FROM (
  SELECT *, count(*) OVER (PARTITION BY entity) AS several
  FROM ({{ reid_people(tbl, every, entity, 'value') }})
  {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
)
WHERE CASE WHEN several > 1 THEN error(${ONE_RECORD})::BOOLEAN ELSE true END
;

PLAN reid_plan_known(tbl, columns, told, key, nulls, entity) AS
{% set every = reid_every(columns, told) %}
{% if entity IS NOT NULL %}
{% call reid_guarded(${OF_PEOPLE.words}, [reid_table(tbl)], reid_with_entity(every, entity, nulls)) %}
{% call reid_treated(tbl, columns, nulls) %}
  {{ reid_known_records(
    tbl, columns, told, NULL::VARCHAR, nulls, every, reid_key_of_people(key::VARCHAR, entity)) }}
{% endcall %}
{% endcall %}
{% else %}
{% call reid_guarded(CASE WHEN key IS NULL THEN ${SCENARIO_COLUMNS.words} ELSE ${KEYED_COLUMNS.words} END,
  [reid_table(tbl)], reid_every(every, CASE WHEN key IS NULL THEN [] ELSE [key::VARCHAR] END)) %}
{% call reid_treated(tbl, columns, nulls) %}
  {% call reid_by_key(tbl, columns, key::VARCHAR, nulls) %}
    {{ reid_known_records(tbl, columns, told, key::VARCHAR, nulls, every, NULL::VARCHAR) }}
  {% endcall %}
{% endcall %}
{% endcall %}
{% endif %}
;

PLAN reid_plan_known_records(tbl, scenario, key, nulls, entity) AS
{% set document = scenario %}
{{ reid_plan_known(tbl, reid_listed(${SCENARIO_COLUMNS.words}, reid_named(document, 'columns')),
  reid_named(document, 'told'), key, nulls, entity) }}
;
