-- How DuckDB says whole columns as small numbers.

MACRO reid_ordinal(kind) AS
regexp_full_match(
  kind, 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|'
    || 'DATE|TIME.*|INTERVAL|ENUM.*');

MACRO reid_keyed(columns, key) AS CASE WHEN key IS NULL THEN columns ELSE list_append(columns, key) END;

-- Each column as the rank of its values, 0 for NULL: one row of whole columns, its records in any order, its
-- keys by position. Of people, a record for each combination of values that they have, and they are the keys.
PLAN reid_plan_record_codes(source, columns, memory_mb, key, nulls, entity) AS
{% if entity IS NOT NULL %}
FROM query(reid_codes_of_people({{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ memory_mb }},
  {{ reid_text(reid_key_of_people(key, entity)) }}, {{ reid_text(nulls) }}))
{% else %}
{% call reid_guarded(CASE WHEN key IS NULL THEN 'columns' ELSE 'columns and key' END, source,
  list_filter(list_append(columns, key), lambda c, i:
    c IS NOT NULL AND list_position(list_append(columns, key), c) = i)) %}
{% call reid_treated(source, columns, nulls) %}
  WITH reid_records AS MATERIALIZED (
    SELECT *
    FROM (SELECT row_number() OVER () - 1 AS position, *
      FROM {{ reid_rows(source, reid_keyed(columns, key), 'value') }})
    WHERE (
      SELECT reid_in_memory(count(*), {{ ${BYTES} * len(columns) + ${LEAST} }}, {{ memory_mb::BIGINT }},
        ' records of {{ len(columns) }} columns')
      FROM {{ reid_rows(source, columns, nulls) }}
    )
    {% if nulls = 'drop' %}AND {{ reid_all_known(columns) }}{% endif %}
  )
  SELECT {{ reid_texts(columns) }} AS names,
    [{% for c, i in columns join ', ' %}reid_ordinal(any_value(typeof(q{{ i }}))){% endfor %}] AS ordinal,
    [{% for c, i in columns join ', ' %}list(coalesce(code{{ i }}, 0)::INTEGER){% endfor %}] AS codes,
    list(position) AS position, []::BIGINT[] AS people,
    {% if key IS NULL %}
    list(position ORDER BY position ASC) AS keys
    {% else %}
    CASE WHEN count(DISTINCT q{{ len(columns) + 1 }})
      + least(1, count(*) - count(q{{ len(columns) + 1 }})) < count(*)
    THEN error('key must tell each record from the others, got '
      || coalesce(mode(q{{ len(columns) + 1 }})::VARCHAR, 'NULL')
        || ' twice; pass a column whose values are distinct, or none')
    ELSE list(q{{ len(columns) + 1 }} ORDER BY position ASC) END AS keys
    {% endif %}
  FROM reid_records {{ reid_coding(columns, 'reid_records', true) }}
{% endcall %}
{% endcall %}
{% endif %}
;

PLAN reid_codes_of_people(source, columns, memory_mb, entity, nulls) AS
{% set every = reid_with_entity(columns, entity, nulls) %}
{% call reid_guarded('columns and entity', source, every) %}
{% call reid_treated(source, columns, nulls) %}
  WITH reid_records AS MATERIALIZED (
    SELECT min(position) AS position, {{ reid_numbered(every) }}
    FROM (SELECT row_number() OVER () - 1 AS position, * FROM {{ reid_rows(source, every, 'value') }})
    {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
    GROUP BY {{ reid_numbered(every) }}
  )
  SELECT {{ reid_texts(columns) }} AS names,
    [{% for c, i in columns join ', ' %}reid_ordinal(any_value(typeof(q{{ i }}))){% endfor %}] AS ordinal,
    [{% for c, i in columns join ', ' %}list(coalesce(code{{ i }}, 0)::INTEGER){% endfor %}] AS codes,
    list(position) AS position, list(coalesce(code{{ len(every) }}, 0)) AS people,
    list(q{{ len(every) }} ORDER BY position ASC) AS keys
  FROM reid_records {{ reid_coding(every, 'reid_records', true) }}
  WHERE (
    SELECT reid_in_memory(count(*), {{ ${BYTES} * len(columns) + ${KEY_BYTES} + ${LEAST} }},
      {{ memory_mb::BIGINT }}, ' records of {{ len(columns) }} columns')
    FROM reid_records
  )
{% endcall %}
{% endcall %}
;

PLAN reid_plan_codes(source, columns, memory_mb, nulls, entity) AS
{{ reid_plan_record_codes(source, columns, memory_mb, NULL, nulls, entity) }};

PLAN reid_plan_uniques(source, columns, memory_mb, key, nulls, entity) AS
{{ reid_plan_record_codes(source, columns, memory_mb, key, nulls, entity) }};
