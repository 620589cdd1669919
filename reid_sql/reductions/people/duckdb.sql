-- How DuckDB says what a model of people is fitted to.

-- Combinations that a pair of so many columns may have; beyond, it is counted among the drawn.
MACRO reid_most_lines(columns) AS list_extract(list_value${MOST_LINES}, len(columns));

-- The classes. `head` are the groups' columns before others, each with a comma after it.
PLAN reid_people_classes(rows, columns, weight, head) AS
SELECT {{ head }} {{ reid_numbered(columns) }}, count(*) AS records
  {% if weight IS NOT NULL %}, {{ reid_weight_of(columns) }} AS weighed{% endif %}
FROM {{ rows }}
GROUP BY {{ head }} {{ reid_numbered(columns) }}
;

-- What counts records and mass of classes.
PLAN reid_counts_of_classes(weight) AS
sum(records)::BIGINT AS records,
{% if weight IS NULL %}sum(records)::DOUBLE{% else %}sum(weighed){% endif %} AS mass
;

-- The classes' records in a random order that the values and the seed decide.
PLAN reid_people_drawn(columns, seed, head) AS
SELECT {{ head }} records,
  [{% for c, i in columns join ', ' %}reid_written(q{{ i }}){% endfor %}] AS texts, mass
FROM (
  SELECT *,
    hash({{ reid_numbered(columns) }}, copy, {{ seed }}::BIGINT)::DOUBLE / 18446744073709551616 AS mass
  FROM (SELECT *, unnest(range(records)) AS copy FROM reid_classes)
  {% if head = '' %}
  ORDER BY mass
  LIMIT ${MOST_DRAWN}
  {% else %}
  QUALIFY row_number() OVER (PARTITION BY {{ rtrim(head, ', ') }} ORDER BY mass ASC) <= ${MOST_DRAWN}
  {% endif %}
)
;

-- What is told of reid_classes, and of the pairs of values, which `pairs` names.
PLAN reid_people_lines(columns, seed, pairs, head) AS
SELECT {{ head }} first, second, label, first_value, second_value, records, mass, NULL::VARCHAR[] AS texts
FROM (SELECT *, count(*) OVER (PARTITION BY {{ head }} first, second) AS reid_lines FROM ({{ pairs }}))
WHERE second <= 0 OR reid_lines <= {{ reid_most_lines(columns) }}
UNION ALL
SELECT {{ head }} 0, ${SIZES}, NULL, NULL, NULL, records, count(*)::DOUBLE, NULL
FROM reid_classes
GROUP BY {{ head }} records
UNION ALL
SELECT {{ head }} 0, ${DRAWN}, NULL, NULL, NULL, records, mass, texts
FROM ({{ reid_people_drawn(columns, seed, head) }})
;

PLAN reid_plan_people(source, columns, weight, marginals, seed, groups, nulls) AS
{% if groups IS NOT NULL %}
FROM query(reid_grouped_people({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_texts(reid_weighted(columns, weight)) }}, {{ reid_text_or_null(weight) }},
  {{ reid_text_or_null(marginals) }}, {{ seed }}, {{ reid_texts(reid_groups(groups, nulls)) }},
  {{ reid_text(reid_head(len(reid_weighted(columns, weight)), len(groups))) }}, {{ reid_text(nulls) }}))
{% else %}
{% set taken = reid_weighted(columns, weight) %}
{% call reid_guarded('columns', [source], taken) %}
{% call reid_treated(source, taken, nulls) %}
  WITH reid_taken AS (FROM {{ reid_rows(source, taken, nulls) }}),
  reid_classes AS MATERIALIZED ({{ reid_people_classes('reid_taken', columns, weight, '') }}),
  reid_few AS MATERIALIZED (FROM reid_classes LIMIT ${LOOKED_AT})
  SELECT row_number() OVER () AS line, *
  FROM ({{ reid_people_lines(columns, seed,
    reid_pair_lines('reid_classes', reid_counts_of_classes(weight), columns, weight, marginals, nulls, '',
      reid_most_lines(columns)), '') }})
{% endcall %}
{% endcall %}
{% endif %}
;

-- The same of each group; `taken` are the columns and the weight, if any.
PLAN reid_grouped_people(source, columns, taken, weight, marginals, seed, groups, head, nulls) AS
{% call reid_by_group(source, 'columns and by', taken, groups, NULL::VARCHAR, nulls,
  'line, first, second, label, first_value, second_value, coalesce(records, 0)::BIGINT AS records, '
    || 'mass, texts') %}
  {{ reid_taken_by_group(source, taken, groups, nulls) }},
  reid_classes AS MATERIALIZED ({{ reid_people_classes('reid_taken', columns, weight, head) }}),
  reid_sized AS (
    SELECT row_number() OVER () AS line, *
    FROM ({{ reid_people_lines(columns, seed,
      reid_pair_lines('reid_classes', reid_counts_of_classes(weight), columns, weight, marginals, nulls,
        head, NULL), head) }})
  )
{% endcall %}
;
