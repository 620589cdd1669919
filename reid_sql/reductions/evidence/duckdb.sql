-- How DuckDB says what uniqueness in the population is estimated from.

-- Sizes of classes, with what independent columns would hold where a method asks for it.
PLAN reid_class_evidence(source, columns, method, nulls) AS
{% if method IN ${OF_INDEPENDENCE} %}
  WITH reid_distinct AS MATERIALIZED (
    SELECT {{ reid_numbered(columns) }}, count(*) AS records
    FROM {{ reid_rows(source, columns, nulls) }}
    GROUP BY {{ reid_numbered(columns) }}
  )
  SELECT records AS class_size, round(log_expected * 1000) / 1000 AS log_expected, count(*) AS classes
  FROM ({{ reid_independent(columns) }})
  GROUP BY ALL
{% else %}
  SELECT class_size, NULL::DOUBLE AS log_expected, count(*) AS classes
  FROM ({{ reid_sizes(source, columns, nulls) }})
  GROUP BY class_size
{% endif %}
;

PLAN reid_plan_evidence(source, columns, method, groups, nulls) AS
{% if groups IS NOT NULL %}
FROM query(reid_grouped_evidence({{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ reid_text(method) }},
  {{ reid_texts(reid_groups(groups, nulls)) }}, {{ reid_text(reid_head(len(columns), len(groups))) }},
  {{ reid_text(nulls) }}))
{% else %}
{% call reid_guarded('quasi-identifiers', [source], columns) %}
{% call reid_treated(source, columns, nulls) %}
  {% if method IN ${OF_PEOPLE} %}
  WITH reid_classes AS MATERIALIZED (
    {{ reid_people_classes(reid_rows(source, columns, nulls), columns, NULL::VARCHAR, '') }}
  )
  {% endif %}
  {{ reid_evidence_lines(columns, method, reid_class_evidence(source, columns, method, nulls),
    reid_plan_pairs(source, columns, NULL::VARCHAR, NULL::VARCHAR, nulls), '') }}
{% endcall %}
{% endcall %}
{% endif %}
;

-- All that is told, of sizes and of pairs. `head` are the groups' columns before others, each with a comma
-- after it.
PLAN reid_evidence_lines(columns, method, sizes, pairs, head) AS
SELECT {{ head }} row_number() OVER () AS place, class_size, log_expected, classes,
  coalesce(first, 0) AS first, coalesce(second, 0) AS second, label, first_value, second_value,
  coalesce(records, 0) AS records, coalesce(mass, 0) AS mass, texts
FROM (
  SELECT *, NULL::VARCHAR[] AS texts
  FROM ({{ sizes }})
  UNION ALL BY NAME
  SELECT 0 AS class_size, NULL::DOUBLE AS log_expected, 0 AS classes,
    {% if head = '' %}* EXCLUDE (cell, records_dropped, nulls){% else %}*{% endif %}
  FROM ({{ pairs }})
  WHERE {{ method IN ${OF_PAIRS} }}
  {% if method IN ${OF_PEOPLE} %}
  UNION ALL BY NAME
  SELECT {{ head }} 0 AS class_size, 0 AS classes, ${DRAWN} AS second, records, mass, texts
  FROM ({{ reid_people_drawn(columns, ${SEED}, head) }})
  {% endif %}
)
;

-- The same of each group.
PLAN reid_grouped_evidence(source, columns, method, groups, head, nulls) AS
{% call reid_by_group(source, 'quasi-identifiers and by', columns, groups, NULL::VARCHAR, nulls,
  'place, class_size, log_expected, coalesce(classes, 0)::BIGINT AS classes, first, second, label, '
    || 'first_value, second_value, records, mass, texts') %}
  {{ reid_taken_by_group(source, columns, groups, nulls) }},
  reid_classes AS (SELECT * EXCLUDE (entity, kept) FROM reid_divided WHERE kept),
  reid_sized AS (
    {{ reid_evidence_lines(columns, method,
      reid_class_evidence_by_group(columns, method, head, string_split(rtrim(head, ', '), ', ')),
      reid_pair_lines('reid_taken', reid_pair_counts(columns, NULL::VARCHAR), columns, NULL::VARCHAR,
        NULL::VARCHAR, nulls, head, NULL), head) }}
  )
{% endcall %}
;

PLAN reid_class_evidence_by_group(columns, method, head, places) AS
{% if method IN ${OF_INDEPENDENCE} %}
SELECT {{ head }} records AS class_size, round(log_expected * 1000) / 1000 AS log_expected,
  count(*) AS classes
FROM (
  SELECT reid_classes.*, {% for c, i in columns join ' + ' %}m{{ i }}{% endfor %}
    - {{ len(columns) - 1 }} * total AS log_expected
  FROM reid_classes
  JOIN (SELECT {{ head }} ln(sum(records)) AS total FROM reid_classes GROUP BY ALL) AS reid_all
    ON {{ reid_alike('reid_classes', 'reid_all', places) }}
  {% for c, i in columns %}
  JOIN (
    SELECT {{ head }} q{{ i }}, ln(sum(records)) AS m{{ i }} FROM reid_classes GROUP BY {{ head }} q{{ i }}
  ) AS reid_held_{{ i }}
    ON {{ reid_alike('reid_classes', 'reid_held_' || i, list_append(places, 'q' || i)) }}
  {% endfor %}
)
GROUP BY ALL
{% else %}
SELECT {{ head }} records AS class_size, NULL::DOUBLE AS log_expected, count(*) AS classes
FROM reid_classes GROUP BY {{ head }} records
{% endif %}
;
