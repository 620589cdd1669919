-- How DuckDB says what a copula is fitted to.

-- The columns and the weights, which are the last of them where there are any.
MACRO reid_weighted(columns, weight) AS
CASE WHEN weight IS NULL THEN columns ELSE list_append(columns, weight) END;

-- A missing or negative weight must not pass: it makes the sum NaN, which the model refuses.
PLAN reid_pair_counts(columns, weight) AS
count(*) AS records,
{% if weight IS NULL %}
count(*)::DOUBLE
{% else %}
sum(CASE WHEN try_cast(q{{ len(columns) + 1 }} AS DOUBLE) >= 0 THEN q{{ len(columns) + 1 }}::DOUBLE
  ELSE 'NaN'::DOUBLE END)
{% endif %}
AS mass
;

-- Shares from outside, as counts of the columns that they name; 0 is the column of a name that is none.
PLAN reid_outside(columns, marginals, nulls) AS
SELECT coalesce(list_position({{ reid_texts(reid_folded(columns)) }}, reid_fold(q1::VARCHAR)), 0),
  -1, q1::VARCHAR, q2::VARCHAR, NULL, 0, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE)
FROM (
  {% call reid_guarded('columns of the marginals', [marginals],
    ['column_name', 'value', 'share']) %}
  FROM {{ reid_rows(marginals, ['column_name', 'value', 'share'], 'value') }}
  {% endcall %}
) AS reid_given(q1, q2, q3)
{% if nulls = 'drop' %}WHERE q2 IS NOT NULL{% endif %}
;

PLAN reid_plan_pairs(source, columns, weight, marginals, nulls) AS
{% set taken = reid_weighted(columns, weight) %}
{% call reid_guarded('columns', [source], taken) %}
{% call reid_treated(source, taken, nulls) %}
  WITH reid_taken AS (FROM {{ reid_rows(source, taken, nulls) }})
  SELECT row_number() OVER () AS cell, *
  FROM (
    {% for c, i in columns join ' UNION ALL ' %}
    SELECT {{ i }}::BIGINT AS first, 0::BIGINT AS second, {{ reid_text(c) }} AS label,
      q{{ i }}::VARCHAR AS first_value, NULL::VARCHAR AS second_value, {{ reid_pair_counts(columns, weight) }}
    FROM reid_taken GROUP BY q{{ i }}
    {% endfor %}
    {% for places in list_filter(reid_subset_places(len(columns), 2),
      lambda reid_places: len(reid_places) = 2) %}
    UNION ALL
    SELECT {{ places[1] }}, {{ places[2] }}, NULL, q{{ places[1] }}::VARCHAR, q{{ places[2] }}::VARCHAR,
      {{ reid_pair_counts(columns, weight) }}
    FROM reid_taken GROUP BY q{{ places[1] }}, q{{ places[2] }}
    {% endfor %}
    {% if weight IS NULL %}
    UNION ALL
    SELECT 0, ${ALONE}, NULL, NULL, NULL, coalesce(count_if(alike = 1), 0)::BIGINT, 0
    FROM (SELECT count(*) AS alike FROM reid_taken GROUP BY {{ reid_key(columns) }})
    {% endif %}
    {% if marginals IS NOT NULL %}UNION ALL {{ reid_outside(columns, marginals, nulls) }}{% endif %}
  )
{% endcall %}
{% endcall %}
;
