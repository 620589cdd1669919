-- How DuckDB says every subset of some columns.

MACRO reid_subset_count(n, max_size) AS
list_sum(list_transform(range(1, least(n, max_size) + 1), lambda k:
  list_reduce(
    list_prepend(1::HUGEINT, range(1, k + 1)::HUGEINT[]), lambda chosen, i: chosen * (n - i + 1) // i)));

-- Each column is a subset too, and tested there alone: the plan of many subsets is long as it is.
MACRO reid_test_of(columns, tested) AS
CASE WHEN len(columns) = 1 THEN reid_told_apart(tested) ELSE 'true' END;

PLAN reid_plan_subset(source, columns, nulls) AS
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_texts(columns) }} AS subset, coalesce(sum(records), 0)::BIGINT AS records,
    count(*) AS classes, count(*)::DOUBLE AS reidentifications,
    coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
  FROM ({{ reid_sizes_where(reid_test_of(columns, columns), source, columns, nulls) }})
{% endcall %}
;

-- The same of people, NULL one of them, each by the smallest of their classes; a class is counted with the
-- first of its people.
PLAN reid_plan_subset_of_people(source, columns, nulls, entity) AS
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_texts(columns) }} AS subset, count(*) AS records,
    coalesce(sum(classes), 0)::BIGINT AS classes,
    coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications,
    coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
  FROM (
    SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
    FROM (
      SELECT entity, count(*) OVER (PARTITION BY {{ reid_numbered(columns) }}) AS class_size,
        row_number() OVER (PARTITION BY {{ reid_numbered(columns) }}) AS place
      FROM ({{ reid_people_where(
        reid_test_of(columns, list_append(columns, entity)), source, columns, entity, nulls) }})
    )
    GROUP BY entity
  )
{% endcall %}
;

PLAN reid_plan_subsets(source, columns, max_size, nulls, memory_mb, entity) AS
{% if reid_subset_count(len(columns), max_size) > ${MAX_SUBSETS} %}
{{ error('the number of subsets of the columns must be at most ${MAX_SUBSETS}, got '
  || reid_subset_count(len(columns), max_size) || '; pass fewer columns or a smaller max_size')::VARCHAR }}
{% elif reid_subset_count(len(columns), max_size) <= ${QUERIES} AND entity IS NOT NULL %}
FROM query(reid_each_subset_of_people({{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ max_size }},
  {{ reid_text(nulls) }}, {{ reid_text(entity) }}))
{% elif reid_subset_count(len(columns), max_size) <= ${QUERIES} %}
FROM query(reid_each_subset(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ max_size }}, {{ reid_text(nulls) }}))
{% else %}
FROM query(reid_many_subsets(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ max_size }}, {{ reid_text(nulls) }},
  {{ memory_mb }}, {{ reid_text_or_null(entity) }}))
{% endif %}
;

-- Of few subsets, a query each. A text of its own: DuckDB works out what is constant in every branch, and all
-- subsets of many columns do not fit into memory.
PLAN reid_each_subset(source, columns, max_size, nulls) AS
{% call reid_guarded('columns', source, columns) %}
{% for places in reid_subset_places(len(columns), max_size) join ' UNION ALL ' %}
({{ reid_plan_subset(source, list_select(columns, places), nulls) }})
{% endfor %}
{% endcall %}
;

PLAN reid_each_subset_of_people(source, columns, max_size, nulls, entity) AS
{% call reid_guarded('columns and entity', source, reid_with_entity(columns, entity, nulls)) %}
{% for places in reid_subset_places(len(columns), max_size) join ' UNION ALL ' %}
({{ reid_plan_subset_of_people(source, list_select(columns, places), nulls, entity) }})
{% endfor %}
{% endcall %}
;

-- Of many subsets, from the distinct records as codes, beside those of their people if any: one call counts
-- all, in bounded memory.
PLAN reid_many_subsets(source, columns, max_size, nulls, memory_mb, entity) AS
{% call reid_guarded(reid_words_beside('columns', entity), source,
  reid_with_entity(columns, entity, nulls)) %}
WITH reid_distinct AS MATERIALIZED (
  {{ reid_distinct(source, reid_columns_of_codes(columns, entity), 'value', 0) }}
),
reid_begun AS MATERIALIZED (
  SELECT reid_begin('reid_subset_counts',
    [{% for c, i in columns join ', ' %}list(coalesce(code{{ i }}, 0)::INTEGER){% endfor %}],
    list(records)::BIGINT[],
    {% if entity IS NULL %}NULL{% else %}list(coalesce(code{{ len(columns) + 1 }}, 0)){% endif %}::BIGINT[],
    {{ max_size::BIGINT }}, {{ reid_text(nulls) }}, {{ memory_mb::BIGINT }}
  ) AS reid_number
  FROM reid_distinct {{ reid_coding(reid_columns_of_codes(columns, entity), 'reid_distinct', false) }}
  WHERE (
    SELECT reid_in_memory(count(*), {{ reid_bytes_of_codes(len(columns), max_size, entity) }},
      {{ memory_mb::BIGINT }}, ' distinct records of {{ len(columns) }} columns')
    FROM reid_distinct
  )
),
reid_waited AS (
  SELECT found
  FROM (SELECT reid_subset_counts(reid_number) AS found FROM range(9223372036854775807), reid_begun)
  WHERE found IS NOT NULL LIMIT 1
),
reid_each AS (
  SELECT unnest(CASE WHEN found.refusal IS NULL THEN found.answers ELSE error(found.refusal) END) AS each
  FROM reid_waited
)
SELECT list_select({{ reid_texts(columns) }}, each.places) AS subset, each.records, each.classes,
  each.reidentifications, each.pairs::HUGEINT AS pairs_alike, each.dropped AS records_dropped,
  {{ reid_text(nulls) }} AS nulls
FROM reid_each
{% endcall %}
;

-- The same where there is no Python: a query each as well, of as many as one statement can hold.
PLAN reid_many_subsets_without_python(source, columns, max_size, nulls, memory_mb, entity) AS
{% if reid_subset_count(len(columns), max_size) > ${QUERIES_ALONE} %}
{{ error('the number of subsets of the columns must be at most ${QUERIES_ALONE} without the Python package '
  || 'reid-sql, got ' || reid_subset_count(len(columns), max_size)
  || '; register it, or pass fewer columns or a smaller max_size')::VARCHAR }}
{% elif entity IS NOT NULL %}
FROM query(reid_each_subset_of_people({{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ max_size }},
  {{ reid_text(nulls) }}, {{ reid_text(entity) }}))
{% else %}
FROM query(reid_each_subset(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ max_size }}, {{ reid_text(nulls) }}))
{% endif %}
;

-- The columns that are coded.
MACRO reid_columns_of_codes(columns, entity) AS
CASE WHEN entity IS NULL THEN columns ELSE list_append(columns, entity) END;

-- What counting from codes needs at least for each distinct record: its codes, the keys of one subset, and
-- its person where people are counted.
MACRO reid_bytes_of_codes(columns, max_size, entity) AS
${BYTES} * columns
  + ${BYTES_PER_KEY} * (least(columns, max_size) + ${SPARE_KEYS} + (entity IS NOT NULL)::INTEGER);
