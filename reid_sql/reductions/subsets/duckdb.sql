-- How DuckDB says every subset of some columns.

MACRO reid_subset_count(n, max_size) AS
list_sum(list_transform(range(1, least(n, max_size) + 1), lambda k:
  list_reduce(
    list_prepend(1::HUGEINT, range(1, k + 1)::HUGEINT[]), lambda chosen, i: chosen * (n - i + 1) // i)));

-- Each column is a subset too, and tested there alone: the plan of many subsets is long as it is.
MACRO reid_test_of(columns, tested) AS
CASE WHEN len(columns) = 1 THEN reid_told_apart(tested) ELSE 'true' END;

-- Each person, NULL one of them, with the size of the smallest of their classes, and how many classes they
-- are the first of.
PLAN reid_smallest_classes(test, source, columns, entity, nulls) AS
SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
FROM (
  SELECT entity, count(*) OVER (PARTITION BY {{ reid_numbered(columns) }}) AS class_size,
    row_number() OVER (PARTITION BY {{ reid_numbered(columns) }}) AS place
  FROM ({{ reid_people_where(test, source, columns, entity, nulls) }})
)
GROUP BY entity
;

PLAN reid_plan_subset(source, columns, nulls, entity) AS
{% call reid_treated(source, columns, nulls) %}
{% if entity IS NOT NULL %}
  SELECT {{ reid_texts(columns) }} AS subset, count(*) AS records,
    coalesce(sum(classes), 0)::BIGINT AS classes,
    coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications,
    coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
  FROM ({{ reid_smallest_classes(
    reid_test_of(columns, list_append(columns, entity)), source, columns, entity, nulls) }})
{% else %}
  SELECT {{ reid_texts(columns) }} AS subset, coalesce(sum(records), 0)::BIGINT AS records,
    count(*) AS classes, count(*)::DOUBLE AS reidentifications,
    coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
  FROM ({{ reid_sizes_where(reid_test_of(columns, columns), source, columns, nulls) }})
{% endif %}
{% endcall %}
;

PLAN reid_plan_subsets(source, columns, max_size, nulls, entity) AS
{% if reid_subset_count(len(columns), max_size) > ${MAX_SUBSETS} %}
{{ error('the number of subsets of the columns must be at most ${MAX_SUBSETS}, got '
  || reid_subset_count(len(columns), max_size) || '; pass fewer columns or a smaller max_size')::VARCHAR }}
{% else %}
{% call reid_guarded(reid_words_beside('columns', entity), [source],
  reid_with_entity(columns, entity, nulls)) %}
  {% for places in reid_subset_places(len(columns), max_size) join ' UNION ALL ' %}
  ({{ reid_plan_subset(source, list_select(columns, places), nulls, entity) }})
  {% endfor %}
{% endcall %}
{% endif %}
;
