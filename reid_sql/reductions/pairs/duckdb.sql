-- How DuckDB says what a copula is fitted to.

-- The columns and the weights, which are the last of them where there are any.
MACRO reid_weighted(columns, weight) AS
CASE WHEN weight IS NULL THEN columns ELSE list_append(columns, weight) END;

-- A missing or negative weight must not pass: it makes the sum NaN, which the model refuses.
PLAN reid_weight_of(columns) AS
sum(CASE WHEN try_cast(q{{ len(columns) + 1 }} AS DOUBLE) >= 0 THEN q{{ len(columns) + 1 }}::DOUBLE
  ELSE 'NaN'::DOUBLE END)
;

PLAN reid_pair_counts(columns, weight) AS
count(*) AS records,
{% if weight IS NULL %}
count(*)::DOUBLE
{% else %}
{{ reid_weight_of(columns) }}
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

-- Whether two columns have at most so many pairs of values, as far as some of the rows, reid_few, can tell:
-- if these have more, so has the table, and it is not counted. NULL for any number.
PLAN reid_pairs_are_few(places, most) AS
{% if most IS NOT NULL %}
WHERE (SELECT count(*) <= {{ most }} FROM (SELECT 1 FROM reid_few GROUP BY {{ reid_join(places, ', ') }}))
{% endif %}
;

-- Values and pairs of values of these rows, by what counts their records and mass; who is alone, of
-- reid_taken; and the shares from outside. `head` are the groups' columns before others, each with a comma
-- after it; `most` is as above, and who is alone is not asked beside it.
PLAN reid_pair_lines(rows, counts, columns, weight, marginals, nulls, head, most) AS
{% for c, i in columns join ' UNION ALL ' %}
SELECT {{ head }} {{ i }}::BIGINT AS first, 0::BIGINT AS second, {{ reid_text(c) }} AS label,
  reid_written(q{{ i }}) AS first_value, NULL::VARCHAR AS second_value,
  {{ counts }}
FROM {{ rows }} GROUP BY {{ head }} q{{ i }}
{% endfor %}
{% if most IS NULL OR most > 0 %}
{% for places in list_filter(reid_subset_places(len(columns), 2),
  lambda reid_places: len(reid_places) = 2) %}
UNION ALL
SELECT {{ head }} {{ places[1] }}, {{ places[2] }}, NULL,
  reid_written(q{{ places[1] }}), reid_written(q{{ places[2] }}),
  {{ counts }}
FROM {{ rows }} {{ reid_pairs_are_few(['q' || places[1], 'q' || places[2]], most) }}
GROUP BY {{ head }} q{{ places[1] }}, q{{ places[2] }}
{% endfor %}
{% endif %}
{% if weight IS NULL AND most IS NULL %}
UNION ALL
SELECT {{ head }} 0, ${ALONE}, NULL, NULL, NULL, coalesce(count_if(alike = 1), 0)::BIGINT, 0
FROM (SELECT {{ head }} count(*) AS alike FROM reid_taken GROUP BY {{ head }} {{ reid_numbered(columns) }})
{% if head <> '' %}GROUP BY {{ rtrim(head, ', ') }}{% endif %}
{% endif %}
{% if marginals IS NOT NULL %}
UNION ALL
{% if head = '' %}
{{ reid_outside(columns, marginals, nulls) }}
{% else %}
SELECT reid_divided.*, reid_shares.*
FROM (SELECT DISTINCT {{ rtrim(head, ', ') }} FROM reid_taken) AS reid_divided,
  ({{ reid_outside(columns, marginals, nulls) }}) AS reid_shares
{% endif %}
{% endif %}
;

PLAN reid_plan_pairs(source, columns, weight, marginals, nulls) AS
{% set taken = reid_weighted(columns, weight) %}
{% call reid_guarded('columns', [source], taken) %}
{% call reid_treated(source, taken, nulls) %}
  WITH reid_taken AS (FROM {{ reid_rows(source, taken, nulls) }})
  SELECT row_number() OVER () AS cell, *
  FROM ({{ reid_pair_lines(
    'reid_taken', reid_pair_counts(columns, weight), columns, weight, marginals, nulls, '', NULL) }})
{% endcall %}
{% endcall %}
;
