-- How DuckDB says the distinct records on the columns that a scenario speaks of.

-- A list of names in a document that was read.
MACRO reid_named(document, part) AS
coalesce(json_extract_string(document, '$.' || part || '[*]'), []::VARCHAR[]);

MACRO reid_every(columns, told) AS
list_concat(columns, list_filter(told, lambda reid_c: NOT list_contains(columns, reid_c)));

-- The distinct records on the columns, each value as a code (0 for NULL), the values of the told columns as
-- texts, and the records that hold each: by the key, else by their place in the scan, counted before any is
-- left out. Beside a population table, of which the columns are asked but no other that the scenario speaks
-- of, how many of it hold each, and the records that only it holds.
PLAN reid_known_records(tbl, columns, told, population_tbl, key, nulls, every) AS
WITH reid_distinct AS MATERIALIZED (
  SELECT row_number() OVER () AS id, *
  FROM (
    SELECT {{ reid_numbered(every) }},
    {% if population_tbl IS NULL %}
      count(*) AS records, list(record) AS members, ${NO_POPULATION}::BIGINT AS people
    {% else %}
      count(*) FILTER (NOT other) AS records,
      coalesce(list(record) FILTER (NOT other), list_slice(list(record), 1, 0)) AS members,
      count(*) FILTER (other) AS people
    {% endif %}
    FROM (
      SELECT {% if key IS NULL %}row_number() OVER () - 1{% else %}{{ reid_name(key) }}{% endif %},
        {{ reid_columns(every) }}{% if population_tbl IS NOT NULL %}, false{% endif %}
      FROM {{ reid_table(tbl) }} AS reid_source WHERE {{ reid_told_apart(every) }}
      {% if population_tbl IS NOT NULL %}
      UNION ALL
      SELECT NULL, {% for c in every join ', ' %}
        {% if list_contains(columns, c) %}{{ reid_name(c) }}{% else %}NULL{% endif %}{% endfor %}, true
      FROM {{ reid_table(population_tbl) }} AS reid_source WHERE {{ reid_told_apart(columns) }}
      {% endif %}
    ) AS reid_rows(record, {{ reid_numbered(every) }}{% if population_tbl IS NOT NULL %}, other{% endif %})
    {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
    GROUP BY {{ reid_numbered(every) }}
  )
)
SELECT id AS place, records, {{ reid_codes(columns) }} AS codes,
  [{% for c in told join ', ' %}q{{ list_position(every, c) }}::VARCHAR{% endfor %}]::VARCHAR[] AS texts,
    people, members
FROM reid_distinct {{ reid_coding(columns, 'reid_distinct', false) }}
;

-- The same where both tables hold the columns, as types whose values compare exactly.
PLAN reid_known_of_both(tbl, columns, population_tbl, body) AS
{% if population_tbl IS NULL %}
{{ body }}
{% else %}
{% call reid_guarded(${SCENARIO_COLUMNS.words}, [reid_table(population_tbl)], columns) %}
  SELECT reid_known_of.*
  FROM ({{ body }}) AS reid_known_of,
    (SELECT list(column_name) AS names, list(column_type) AS types
      FROM (DESCRIBE FROM {{ reid_table(tbl) }})) AS s,
    (SELECT list(column_name) AS names, list(column_type) AS types
      FROM (DESCRIBE FROM {{ reid_table(population_tbl) }})) AS p
  WHERE reid_comparable({{ reid_texts(columns) }}, s.names, s.types, p.names, p.types)
{% endcall %}
{% endif %}
;

PLAN reid_plan_known(tbl, columns, told, population_tbl, key, nulls) AS
{% set every = reid_every(columns, told) %}
{% call reid_guarded(CASE WHEN key IS NULL THEN ${SCENARIO_COLUMNS.words} ELSE ${KEYED_COLUMNS.words} END,
  [reid_table(tbl)], reid_every(every, CASE WHEN key IS NULL THEN [] ELSE [key::VARCHAR] END)) %}
{% call reid_treated(tbl, columns, nulls) %}
  {% call reid_by_key(tbl, columns, key::VARCHAR, nulls) %}
    {% call reid_known_of_both(tbl, columns, population_tbl) %}
      {{ reid_known_records(tbl, columns, told, population_tbl, key::VARCHAR, nulls, every) }}
    {% endcall %}
  {% endcall %}
{% endcall %}
{% endcall %}
;

PLAN reid_plan_known_records(tbl, scenario, population_tbl, key, nulls) AS
{% set document = scenario %}
{{ reid_plan_known(tbl, reid_listed(${SCENARIO_COLUMNS.words}, reid_named(document, 'columns')),
  reid_named(document, 'told'), population_tbl, key, nulls) }}
;
