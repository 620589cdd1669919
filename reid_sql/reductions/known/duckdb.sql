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
PLAN reid_known_records(source, columns, told, population_source, key, nulls, every) AS
WITH reid_distinct AS MATERIALIZED (
  SELECT row_number() OVER () AS id, *
  FROM (
    SELECT {{ reid_numbered(every) }},
    {% if population_source IS NULL %}
      count(*) AS records, list(record) AS members, ${NO_POPULATION}::BIGINT AS people
    {% else %}
      count(*) FILTER (NOT other) AS records,
      coalesce(list(record) FILTER (NOT other), list_slice(list(record), 1, 0)) AS members,
      count(*) FILTER (other) AS people
    {% endif %}
    FROM (
      SELECT {% if key IS NULL %}row_number() OVER () - 1{% else %}{{ reid_name(key) }}{% endif %},
        {{ reid_columns(every) }}{% if population_source IS NOT NULL %}, false{% endif %}
      FROM {{ source }} AS reid_source WHERE {{ reid_told_apart(every) }}
      {% if population_source IS NOT NULL %}
      UNION ALL
      SELECT NULL, {% for c in every join ', ' %}
        {% if list_contains(columns, c) %}{{ reid_name(c) }}{% else %}NULL{% endif %}{% endfor %}, true
      FROM {{ population_source }} AS reid_source WHERE {{ reid_told_apart(columns) }}
      {% endif %}
    ) AS reid_rows(record, {{ reid_numbered(every) }}{% if population_source IS NOT NULL %}, other{% endif %})
    {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
    GROUP BY {{ reid_numbered(every) }}
  )
)
SELECT id AS place, records, {{ reid_codes(columns) }} AS codes,
  [{% for c in told join ', ' %}q{{ list_position(every, c) }}::VARCHAR{% endfor %}]::VARCHAR[] AS texts,
    people, members
FROM reid_distinct {{ reid_coding(columns, 'reid_distinct', false) }}
WHERE (SELECT reid_in_limit(count(*), ${KNOWN_BYTES}) FROM reid_distinct)
;

-- The same where both tables hold the columns, as types whose values compare exactly.
PLAN reid_known_of_both(source, columns, population_source, body) AS
{% if population_source IS NULL %}
{{ body }}
{% else %}
{% call reid_guarded(${SCENARIO_COLUMNS.words}, population_source, columns) %}
  SELECT reid_known_of.*
  FROM ({{ body }}) AS reid_known_of,
    {{ reid_types_of_both(source, population_source, columns) }}
  WHERE reid_comparable(reid_compared.reid_unlike)
{% endcall %}
{% endif %}
;

PLAN reid_plan_known(source, columns, told, population_source, key, nulls) AS
{% set every = reid_every(columns, told) %}
{% call reid_guarded(CASE WHEN key IS NULL THEN ${SCENARIO_COLUMNS.words} ELSE ${KEYED_COLUMNS.words} END,
  source, reid_every(every, CASE WHEN key IS NULL THEN [] ELSE [key::VARCHAR] END)) %}
{% call reid_treated(source, columns, nulls) %}
  {% call reid_by_key(source, columns, key::VARCHAR, nulls) %}
    {% call reid_known_of_both(source, columns, population_source) %}
      {{ reid_known_records(source, columns, told, population_source, key::VARCHAR, nulls, every) }}
    {% endcall %}
  {% endcall %}
{% endcall %}
{% endcall %}
;

-- The people, NULL one of them, each with their values; people of several are refused, as an attacker could
-- know any.
PLAN reid_one_record_a_person(source, columns, every, entity, nulls) AS
{% call reid_guarded(${OF_PEOPLE.words}, source, reid_with_entity(every, entity, nulls)) %}
  SELECT {{ reid_named_columns(every) }}, entity AS {{ reid_name(entity) }}
  FROM (
    SELECT *,
      count(*) {% if nulls = 'drop' %}FILTER ({{ reid_all_known(columns) }}){% endif %}
      OVER (PARTITION BY entity) AS several
    FROM ({{ reid_people(source, every, entity, 'value') }})
  )
  WHERE CASE WHEN several > 1 THEN error(${ONE_RECORD})::BOOLEAN ELSE true END
{% endcall %}
;

-- They in place of the table, where a column tells people apart.
PLAN reid_source_of_records(source, columns, every, entity, nulls) AS
{% if entity IS NULL %}
{{ source }}
{% else %}
(FROM query(reid_one_record_a_person({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_texts(every) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }})))
{% endif %}
;

PLAN reid_plan_known_records(source, scenario, population_source, key, nulls, entity) AS
{% set columns = reid_listed(${SCENARIO_COLUMNS.words}, reid_named(scenario, 'columns')) %}
{% set told = reid_named(scenario, 'told') %}
{{ reid_plan_known(reid_source_of_records(source, columns, reid_every(columns, told), entity, nulls), columns,
  told, population_source, reid_key_of_people(key, entity), nulls) }}
;
