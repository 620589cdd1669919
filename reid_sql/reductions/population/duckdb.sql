-- How DuckDB says the sample's classes by their population.

-- The population of each of the sample's classes; a population holds its sample.
PLAN reid_population(source, population_source, columns, nulls) AS
{% if nulls = 'wildcard' %}
  FROM query(reid_population_of_matches(
    {{ reid_text(source) }}, {{ reid_text(population_source) }}, {{ reid_texts(columns) }}))
{% else %}
  SELECT s.records AS own, s.records, coalesce(p.records, 0) AS found, NULL::BIGINT AS blank
  FROM ({{ reid_distinct(source, columns, nulls, 0) }}) s
  LEFT JOIN ({{ reid_distinct(population_source, columns, nulls, 1) }}) p
    ON {% for c, i in columns join ' AND ' %}s.q{{ i }} IS NOT DISTINCT FROM p.q{{ i }}{% endfor %}
{% endif %}
;

PLAN reid_population_of_matches(source, population_source, columns) AS
{% call reid_population_with(columns) %}
  {{ reid_distinct(source, columns, 'wildcard', 0) }}
  UNION ALL {{ reid_distinct(population_source, columns, 'wildcard', 1) }}
{% endcall %}
SELECT own, records, class_size AS found,
  CASE WHEN {{ reid_all_missing(columns) }} THEN records ELSE 0 END AS blank
FROM reid_matched JOIN reid_own USING (id)
;

PLAN reid_population_with(columns, records) AS
{{ reid_wildcard_with(columns, records, 1) }}, reid_own AS ({{ reid_matches(0, 'own') }})
;

-- The people of the sample by the size of their smallest class in the population; those of a class that the
-- population holds fewer of are uncovered.
PLAN reid_population_people(source, population_source, columns, entity, nulls) AS
WITH reid_people AS MATERIALIZED ({{ reid_people(source, columns, entity, nulls) }}),
reid_others AS (FROM ({{ reid_others(population_source, columns, entity, nulls) }})),
reid_met AS MATERIALIZED (
  SELECT s.*, coalesce(p.records, 0) AS found
  FROM (SELECT {{ reid_numbered(columns) }}, count(*) AS own FROM reid_people
    GROUP BY {{ reid_numbered(columns) }}) s
  LEFT JOIN reid_others p
    ON {% for c, i in columns join ' AND ' %}s.q{{ i }} IS NOT DISTINCT FROM p.q{{ i }}{% endfor %}
),
reid_placed AS (
  SELECT min(greatest(found, own)) AS class_size, bool_or(found < own) AS short
  FROM reid_people AS s
  JOIN reid_met AS m ON {% for c, i in columns join ' AND ' %}s.q{{ i }}
    IS NOT DISTINCT FROM m.q{{ i }}{% endfor %}
  GROUP BY entity
)
SELECT class_size, classes, coalesce(records, 0)::BIGINT AS records,
  coalesce(uncovered, 0)::BIGINT AS uncovered, NULL::BIGINT AS blank_records
FROM (SELECT greatest(found, own) AS class_size, count(*) AS classes FROM reid_met GROUP BY ALL)
LEFT JOIN (
  SELECT class_size, count(*) AS records, count(*) FILTER (short) AS uncovered FROM reid_placed
    GROUP BY class_size
) USING (class_size)
;

-- The histogram of each group of the sample, each against the whole population.
PLAN reid_grouped_population(source, population_source, columns, entity, groups, nulls) AS
{% set by = reid_groups(groups, nulls) %}
{% set every = list_concat(columns, by) %}
{% set places = reid_places(len(columns) + 1, len(every)) %}
{% call reid_by_group(source, reid_words_by(entity), columns, by, entity, nulls,
  'class_size, coalesce(classes, 0)::BIGINT AS classes, coalesce(records, 0)::BIGINT AS records, '
    || 'coalesce(uncovered, 0)::BIGINT AS uncovered, NULL::BIGINT AS blank_records') %}
  reid_others AS (FROM ({{ reid_others(population_source, columns, entity, nulls) }})),
  reid_met AS (
    SELECT o.*, greatest(coalesce(p.records, 0), own) AS class_size, coalesce(p.records, 0) < own AS short
    FROM (
      SELECT *,
        {% if entity IS NULL %}records{% else %}
        count(*) OVER (PARTITION BY {{ reid_numbered(every) }}){% endif %} AS own
      FROM reid_divided WHERE kept
    ) AS o
    LEFT JOIN reid_others AS p ON {{ reid_alike('o', 'p', reid_places(1, len(columns))) }},
      {{ reid_types_of_both(source, population_source, columns) }}
    WHERE reid_comparable(reid_compared.reid_unlike)
  ),
  {{ reid_sized_by_group(reid_join(places, ', '), reid_numbered(every), reid_alike('c', 'p', places),
    entity IS NOT NULL) }}
{% endcall %}
;

-- How many records, or people, of the population hold each distinct combination.
PLAN reid_others(population_source, columns, entity, nulls) AS
SELECT {{ reid_numbered(columns) }}, count(*) AS records
{% if entity IS NULL %}
FROM {{ reid_rows(population_source, columns, nulls) }}
{% else %}
FROM ({{ reid_people(population_source, columns, entity, nulls) }})
{% endif %}
GROUP BY {{ reid_numbered(columns) }}
;

PLAN reid_plan_population_histogram(source, population_source, columns, entity, groups, nulls) AS
{% if groups IS NOT NULL %}
FROM query(reid_grouped_population({{ reid_text(source) }}, {{ reid_text(population_source) }},
  {{ reid_texts(columns) }}, {{ reid_text_or_null(entity) }}, {{ reid_texts(groups) }},
  {{ reid_text(nulls) }}))
{% else %}
{% call reid_guarded_both(reid_words(entity), source, population_source,
  reid_with_entity(columns, entity, nulls)) %}
{% call reid_treated(source, columns, nulls) %}
{% if entity IS NOT NULL %}
  SELECT reid_placed.*
  FROM (
    FROM query(reid_population_people({{ reid_text(source) }}, {{ reid_text(population_source) }},
      {{ reid_texts(columns) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }}))
  ) AS reid_placed, {{ reid_types_of_both(source, population_source, columns) }}
  WHERE reid_comparable(reid_compared.reid_unlike)
{% else %}
  SELECT greatest(found, own) AS class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER (found < own), 0)::BIGINT AS uncovered, sum(blank)::BIGINT AS blank_records
  FROM ({{ reid_population(source, population_source, columns, nulls) }}),
    {{ reid_types_of_both(source, population_source, columns) }}
  WHERE reid_comparable(reid_compared.reid_unlike)
  GROUP BY ALL
{% endif %}
{% endcall %}
{% endcall %}
{% endif %}
ORDER BY class_size ASC
;
