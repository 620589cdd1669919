-- How DuckDB says every subset of some columns.

MACRO reid_subset_count(n, max_size) AS
list_sum(list_transform(range(1, least(n, max_size) + 1), lambda k:
  list_reduce(
    list_prepend(1::HUGEINT, range(1, k + 1)::HUGEINT[]), lambda chosen, i: chosen * (n - i + 1) // i)));

-- Each column is a subset too, and tested there alone: the plan of many subsets is long as it is.
MACRO reid_test_of(columns) AS CASE WHEN len(columns) = 1 THEN reid_told_apart(columns) ELSE 'true' END;

PLAN reid_plan_subset(source, columns, nulls) AS
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_texts(columns) }} AS subset, coalesce(sum(records), 0)::BIGINT AS records,
    count(*) AS classes,
    coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
  FROM ({{ reid_sizes_where(reid_test_of(columns), source, columns, nulls) }})
{% endcall %}
;

PLAN reid_plan_subsets(source, columns, max_size, nulls) AS
{% if reid_subset_count(len(columns), max_size) > ${MAX_SUBSETS} %}
{{ error('the number of subsets of the columns must be at most ${MAX_SUBSETS}, got '
  || reid_subset_count(len(columns), max_size) || '; pass fewer columns or a smaller max_size')::VARCHAR }}
{% else %}
{% call reid_guarded('columns', [source], columns) %}
  {% for places in reid_subset_places(len(columns), max_size) join ' UNION ALL ' %}
  ({{ reid_plan_subset(source, list_select(columns, places), nulls) }})
  {% endfor %}
{% endcall %}
{% endif %}
;
