-- How DuckDB says the distinct records, with which records hold each.

-- The distinct records, numbered, with the records that hold each (by the key, else by their place in the
-- scan) and the sum of a column of numbers above 0, NaN where one of them is none.
PLAN reid_holders(source, columns, weight, key, nulls) AS
WITH reid_distinct AS MATERIALIZED (
  SELECT row_number() OVER () AS id, *
  FROM (
    SELECT {{ reid_numbered(columns) }}, count(*) AS records, list(record) AS members,
      sum(CASE WHEN weight > 0 THEN weight ELSE 'NaN'::DOUBLE END) AS mass
    FROM (
      SELECT {% if key IS NULL %}row_number() OVER () - 1{% else %}{{ reid_name(key) }}{% endif %},
        {% if weight IS NULL %}1::DOUBLE{% else %}try_cast({{ reid_name(weight) }} AS DOUBLE){% endif %},
        {{ reid_columns(columns) }}
      FROM {{ source }} AS reid_source WHERE {{ reid_told_apart(columns) }}
    ) AS reid_rows(record, weight, {{ reid_numbered(columns) }})
    {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
    GROUP BY {{ reid_numbered(columns) }}
  )
)
;

PLAN reid_in_classes(source, columns, weight, key, nulls, body) AS
{% call reid_guarded(CASE WHEN weight IS NULL AND key IS NULL THEN 'quasi-identifiers'
  ELSE ${KEYED_QI.words} END,
  source, list_distinct(list_concat(columns, list_filter([weight, key],
    lambda c: c IS NOT NULL)))) %}
{% call reid_treated(source, columns, nulls) %}
  {% call reid_by_key(source, columns, key, nulls) %}
    {{ reid_holders(source, columns, weight, key, nulls) }} {{ body }}
  {% endcall %}
{% endcall %}
{% endcall %}
;

PLAN reid_plan_fitted_records(source, columns, interactions, key, nulls) AS
{% call reid_in_classes(source, columns, NULL::VARCHAR, key::VARCHAR, nulls) %}
  SELECT id AS place, records, log_expected,
    {% if interactions = 2 %}[{% for c, i in columns join ', ' %}code{{ i }}{% endfor %}]
    {% else %}[]::BIGINT[]{% endif %} AS codes,
    members
  FROM ({{ reid_independent(columns) }})
  {% if interactions = 2 %}
  {% for c, i in columns %}
  JOIN (SELECT q{{ i }} AS w{{ i }}, row_number() OVER () AS code{{ i }} FROM reid_distinct GROUP BY q{{ i }})
    ON q{{ i }} IS NOT DISTINCT FROM w{{ i }}
  {% endfor %}
  {% endif %}
  WHERE (SELECT reid_in_limit(count(*), ${FITTED_BYTES}) FROM reid_distinct)
{% endcall %}
;

PLAN reid_plan_weighted_records(source, columns, weight, key, nulls) AS
{% call reid_in_classes(source, columns, weight::VARCHAR, key::VARCHAR, nulls) %}
  SELECT id AS place, records, mass, members FROM reid_distinct
  WHERE (SELECT reid_in_limit(count(*), ${WEIGHTED_BYTES}) FROM reid_distinct)
{% endcall %}
;
