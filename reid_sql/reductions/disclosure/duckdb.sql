-- How DuckDB measures what each class gives away about a sensitive column.
-- A cell is a class and a sensitive value in it: its keys, the value s, and n records.

PLAN reid_cells(source, columns, sensitive, nulls) AS
SELECT {{ reid_numbered(columns) }}, q{{ len(columns) + 1 }} AS s, count(*) AS n
FROM {{ reid_rows(source, list_append(columns, sensitive), nulls) }}
GROUP BY ALL
;

-- Each sensitive value with the records that hold it; for distances along a line also its place x from 0 to
-- 1, the share f of records up to it, and the area g under f left of it.
PLAN reid_place(measure, sensitive, within) AS
{% if measure = 't ordered' %}
CASE WHEN regexp_full_match(typeof(s),
    'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|BOOLEAN|ENUM.*')
  THEN CASE WHEN s IS NOT NULL THEN row_number() OVER ({{ within }} ORDER BY s ASC NULLS LAST) - 1 END::DOUBLE
  ELSE error({{ reid_text('sensitive must be a column of numbers, dates, times, booleans or ENUMs for '
    || 'variant := ''ordered'', got ''' || sensitive
    || '''; cast it to one of them, or pass variant := ''equal''') }})::DOUBLE END
{% else %}
CASE WHEN regexp_full_match(typeof(s), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*')
  THEN CASE WHEN isfinite(try_cast(s::VARCHAR AS DOUBLE)) THEN try_cast(s::VARCHAR AS DOUBLE) END
  ELSE error({{ reid_text(
    'sensitive must be a column of numbers for variant := ''numeric'', got ''' || sensitive
    || '''; cast it to a number, or pass variant := ''equal''') }})::DOUBLE END
{% endif %}
;

PLAN reid_held(measure, sensitive) AS
{% if measure NOT IN ('t ordered', 't numeric') %}
SELECT s AS v, sum(n)::BIGINT AS held, 0.0 AS x, 0.0 AS f, 0.0 AS g FROM reid_cells GROUP BY s
{% else %}
{{ reid_line(measure, sensitive, '', '') }}
{% endif %}
;

-- The line of the table, or of each group: `head` are the groups' columns before others, `within` the words
-- by which a window is of one.
PLAN reid_line(measure, sensitive, head, within) AS
SELECT {{ head }} v, held, x, f, sum(area) OVER ({{ within }} ORDER BY f ASC) AS g
FROM (
  SELECT *,
    coalesce(lag(f) OVER ({{ within }} ORDER BY f ASC), 0)
      * (x - coalesce(lag(x) OVER ({{ within }} ORDER BY f ASC), 0)) AS area
  FROM (
    SELECT *, (sum(held) OVER ({{ within }} ORDER BY v ASC NULLS LAST))::DOUBLE
        / sum(held) OVER ({{ within }}) AS f,
      CASE WHEN count(place) OVER ({{ within }}) = count(*) OVER ({{ within }}) THEN
        CASE WHEN max(place) OVER ({{ within }}) = min(place) OVER ({{ within }}) THEN 1
        ELSE (place / 2 - min(place) OVER ({{ within }}) / 2)
          / (max(place) OVER ({{ within }}) / 2 - min(place) OVER ({{ within }}) / 2) END
      END AS x
    FROM (
      SELECT {{ head }} s AS v, sum(n)::BIGINT AS held, {{ reid_place(measure, sensitive, within) }} AS place
      FROM reid_cells GROUP BY {{ head }} s
    )
  )
)
;

-- Whether a measure needs a class's size at each of its cells.
MACRO reid_needs_size(measure) AS measure IN ('l recursive', 't equal', 't ordered', 't numeric');

-- What any other measure makes of the cells of one class.
PLAN reid_measure_of_cells(measure) AS
{% if measure = 'l distinct' %}
count(*)::DOUBLE
{% elif measure = 'l entropy' %}
CASE WHEN max(n) * count(*) = sum(n) THEN count(*)::DOUBLE ELSE exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) END
{% elif measure = 'alpha' %}
max(n)::DOUBLE / sum(n)
{% elif measure = 'beta basic' %}
greatest(0, max(n::DOUBLE / held) * any_value(total) / sum(n) - 1)
{% elif measure = 'beta enhanced' %}
CASE WHEN max((n * total)::DOUBLE / (held * (1 - ln(held::DOUBLE / total)))) <= sum(n)
THEN greatest(0, max(n::DOUBLE / held) * any_value(total) / sum(n) - 1) ELSE 'infinity'::DOUBLE END
{% elif measure = 'delta present' %}
{{ reid_delta() }}
{% else %}
CASE WHEN count(*) = any_value(kinds) THEN {{ reid_delta() }} ELSE 'infinity'::DOUBLE END
{% endif %}
;

PLAN reid_delta() AS
greatest(
  0, ln(max(n::DOUBLE / held) * any_value(total) / sum(n)),
    -ln(min(n::DOUBLE / held) * any_value(total) / sum(n)))
;

-- Measures that need a class's size at each of its cells: at once for classes of one value, as nearly all are
-- in a table of nearly unique records, and from the cells of the others.
PLAN reid_single(measure, c) AS
{% if measure = 'l recursive' %}
{% if c > 1 %}1.0{% else %}0.0{% endif %}
{% elif measure = 't equal' %}
1 - held::DOUBLE / total
{% else %}
2 * g - area + 1 - x
{% endif %}
;

PLAN reid_of_several(measure, c, keys, alike) AS
{% if measure = 'l recursive' %}
SELECT {{ keys }}, any_value(size) AS class_size, count(*) FILTER (largest < {{ c }} * tail)::DOUBLE AS value
FROM (
  SELECT *, max(n) OVER (PARTITION BY {{ keys }}) AS largest,
    sum(n) OVER (PARTITION BY {{ keys }} ORDER BY n ASC ROWS UNBOUNDED PRECEDING) AS tail
  FROM reid_several
)
GROUP BY {{ keys }}
{% elif measure = 't equal' %}
SELECT {{ keys }}, any_value(size) AS class_size,
  sum(greatest(0, n::DOUBLE / size - held::DOUBLE / total)) AS value
FROM reid_several GROUP BY {{ keys }}
{% else %}
SELECT {{ keys }}, any_value(size) AS class_size,
  sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g)
    AS value
FROM (
  SELECT *,
    CASE WHEN coalesce(found_x, next_x) <= x THEN x WHEN coalesce(found_x, next_x) >= next_x THEN next_x
      ELSE found_x END AS cross_x,
    CASE WHEN coalesce(found_x, next_x) <= x THEN g WHEN coalesce(found_x, next_x) >= next_x THEN next_g
      ELSE found_g END AS cross_g
  FROM (
    SELECT reid_run.*, reid_held.x AS found_x, reid_held.g AS found_g
    FROM (
      SELECT *, (sum(n) OVER by_value)::DOUBLE / size AS reached, row_number() OVER by_value = 1 AS first,
        coalesce(lead(x) OVER by_value, 1) AS next_x, coalesce(lead(g) OVER by_value, area) AS next_g
      FROM reid_several
      WINDOW by_value AS (PARTITION BY {{ keys }} ORDER BY x ASC)
    ) AS reid_run ASOF LEFT JOIN reid_held ON {{ alike }} reached < reid_held.f
  )
)
GROUP BY {{ keys }}
{% endif %}
;

-- Keys, class_size and value of every class.
PLAN reid_disclosed(source, columns, sensitive, measure, c, nulls) AS
FROM query(reid_valued({{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ reid_text(sensitive) }},
  {{ reid_text(measure) }}, {{ c }}, {{ reid_text(nulls) }}, {{ reid_text(reid_numbered(columns)) }}))
;

PLAN reid_valued(source, columns, sensitive, measure, c, nulls, keys) AS
WITH reid_cells AS MATERIALIZED ({{ reid_cells(source, columns, sensitive, nulls) }}),
{% if measure IN ('l distinct', 'l entropy', 'l recursive', 'alpha') %}
reid_weighed AS (FROM reid_cells)
{% else %}
reid_held AS MATERIALIZED ({{ reid_held(measure, sensitive) }}),
reid_weighed AS (
  SELECT reid_cells.*, held, x, g, total, kinds, area
  FROM reid_cells JOIN reid_held ON s IS NOT DISTINCT FROM v,
    (SELECT sum(held)::BIGINT AS total, count(*) AS kinds, max(g) AS area FROM reid_held)
)
{% endif %}
{{ reid_of_weighed(measure, c, keys, '') }}
;

-- The same of reid_weighed; `alike` holds a class against the line of its own group.
PLAN reid_of_weighed(measure, c, keys, alike) AS
{% if NOT reid_needs_size(measure) %}
SELECT {{ keys }}, sum(n)::BIGINT AS class_size, {{ reid_measure_of_cells(measure) }} AS value
FROM reid_weighed GROUP BY {{ keys }}
{% else %}
, reid_counted AS MATERIALIZED (
  SELECT {{ keys }}, sum(n)::BIGINT AS size, count(*) AS parts,
    any_value({{ reid_single(measure, c) }}) AS single
  FROM reid_weighed GROUP BY {{ keys }}
),
reid_several AS (
  SELECT reid_weighed.*, size
  FROM reid_weighed JOIN (SELECT {{ keys }}, size FROM reid_counted WHERE parts > 1) AS reid_sized
    ON {% for q in string_split(keys, ', ') join ' AND ' %}
      reid_weighed.{{ q }} IS NOT DISTINCT FROM reid_sized.{{ q }}
    {% endfor %}
)
SELECT {{ keys }}, size AS class_size, single AS value FROM reid_counted WHERE parts = 1
UNION ALL {{ reid_of_several(measure, c, keys, alike) }}
{% endif %}
;

-- How many classes have each size and each value of the measure.
PLAN reid_plan_disclosure(source, columns, sensitive, measure, c, groups, nulls) AS
{% if groups IS NOT NULL %}
FROM query(reid_grouped_disclosure({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_text(sensitive) }}, {{ reid_text(measure) }}, {{ c }}, {{ reid_texts(groups) }},
  {{ reid_text(nulls) }}))
{% elif reid_are_apart(columns, sensitive) %}
{% call reid_guarded('quasi-identifiers and sensitive', source, list_append(columns, sensitive)) %}
{% call reid_treated(source, list_append(columns, sensitive), nulls) %}
  SELECT class_size, value, count(*) AS classes
  FROM ({{ reid_disclosed(source, columns, sensitive, measure, c, nulls) }})
  GROUP BY class_size, value
{% endcall %}
{% endcall %}
{% else %}
FROM query(reid_are_listed('quasi-identifiers and sensitive',
  list_append({{ reid_texts(columns) }}, {{ reid_text_or_null(sensitive) }})))
{% endif %}
;

-- The cells of each group beside what the group holds of their values.
PLAN reid_weighed_by_group(measure, sensitive, groups, places) AS
{% if measure IN ('l distinct', 'l entropy', 'l recursive', 'alpha') %}
reid_weighed AS (FROM reid_cells)
{% else %}
reid_held AS MATERIALIZED (
  {% if measure IN ('t ordered', 't numeric') %}
  {{ reid_line(measure, sensitive, groups || ',', 'PARTITION BY ' || groups) }}
  {% else %}
  SELECT {{ groups }}, s AS v, sum(n)::BIGINT AS held, 0.0 AS x, 0.0 AS f, 0.0 AS g
  FROM reid_cells GROUP BY {{ groups }}, s
  {% endif %}
),
reid_weighed AS (
  SELECT c.*, held, x, g, total, kinds, area
  FROM reid_cells AS c
  JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND {{ reid_alike('c', 'h', places) }}
  JOIN (
    SELECT {{ groups }}, sum(held)::BIGINT AS total, count(*) AS kinds, max(g) AS area
    FROM reid_held GROUP BY {{ groups }}
  ) AS t ON {{ reid_alike('c', 't', places) }}
)
{% endif %}
;

-- The groups, or the refusal: of the sensitive column itself each would have one value, and all would pass.
MACRO reid_groups_of_many(reid_by, sensitive) AS
CASE WHEN list_contains(reid_folded(reid_by), reid_fold(sensitive))
THEN error(replace(${OF_ONE_VALUE}, '{}', sensitive))
ELSE reid_by END;

-- The same of each group, which is a table of its own.
PLAN reid_grouped_disclosure(source, columns, sensitive, measure, c, groups, nulls) AS
{{ reid_are_listed('quasi-identifiers and sensitive', list_append(columns, sensitive)) }}
{% set by = reid_groups_of_many(reid_groups(groups, nulls), sensitive) %}
{% set places = reid_places(len(columns) + 2, len(columns) + 1 + len(by)) %}
{% call reid_by_group(source, 'quasi-identifiers, sensitive and by', list_append(columns, sensitive), by,
  NULL::VARCHAR, nulls, 'class_size, value, coalesce(classes, 0)::BIGINT AS classes') %}
  reid_cells AS MATERIALIZED (
    SELECT * EXCLUDE (q{{ len(columns) + 1 }}, records, entity, kept), q{{ len(columns) + 1 }} AS s,
      records AS n
    FROM reid_divided WHERE kept
  ),
  reid_sized AS (
    SELECT {{ reid_join(places, ', ') }}, class_size, value, count(*) AS classes
    FROM (
      WITH {{ reid_weighed_by_group(measure, sensitive, reid_join(places, ', '), places) }}
      {{ reid_of_weighed(measure, c, reid_join(list_concat(places, reid_places(1, len(columns))), ', '),
        reid_alike('reid_run', 'reid_held', places) || ' AND ') }}
    )
    GROUP BY ALL
  )
{% endcall %}
;

-- The classes that offend: those of which the test is true, or whose value is not known.
PLAN reid_plan_offending(source, columns, sensitive, measure, c, test, nulls) AS
{{ reid_are_listed('quasi-identifiers and sensitive', list_append(columns, sensitive)) }}
{{ reid_own_names_refused(columns, ['class_size', 'value', 'records_dropped', 'nulls']) }}
{% call reid_guarded('quasi-identifiers and sensitive', source, list_append(columns, sensitive)) %}
{% call reid_treated(source, list_append(columns, sensitive), nulls) %}
  SELECT {{ reid_named_columns(columns) }}, class_size, value
  FROM ({{ reid_disclosed(source, columns, sensitive, measure, c, nulls) }})
  WHERE value IS NULL OR {{ test }}
{% endcall %}
{% endcall %}
;

-- A bad c is refused also where the variant does not use it.
MACRO reid_diversity(variant, c) AS CASE WHEN c IS NOT NULL THEN 'l ' || variant END;

PLAN reid_plan_l_diversity(source, columns, sensitive, variant, c, groups, nulls) AS
{{ reid_plan_disclosure(source, columns, sensitive, reid_diversity(variant, c), c, groups, nulls) }}
;

PLAN reid_plan_l_diversity_classes(source, columns, sensitive, variant, c, l, nulls) AS
{{ reid_plan_offending(source, columns, sensitive, reid_diversity(variant, c), c, reid_below(l), nulls) }}
;

PLAN reid_plan_t_closeness(source, columns, sensitive, variant, groups, nulls) AS
{{ reid_plan_disclosure(source, columns, sensitive, 't ' || variant, 0, groups, nulls) }}
;

PLAN reid_plan_t_closeness_classes(source, columns, sensitive, variant, t, nulls) AS
{{ reid_plan_offending(source, columns, sensitive, 't ' || variant, 0, reid_above(t), nulls) }}
;

PLAN reid_plan_alpha_k_anonymity(source, columns, sensitive, groups, nulls) AS
{{ reid_plan_disclosure(source, columns, sensitive, 'alpha', 0, groups, nulls) }}
;

PLAN reid_plan_alpha_k_anonymity_classes(source, columns, sensitive, alpha, k, nulls) AS
{{ reid_plan_offending(source, columns, sensitive, 'alpha', 0,
  reid_above(alpha) || ' OR class_size < ' || k, nulls) }}
;

PLAN reid_plan_beta_likeness(source, columns, sensitive, variant, groups, nulls) AS
{{ reid_plan_disclosure(source, columns, sensitive, 'beta ' || variant, 0, groups, nulls) }}
;

PLAN reid_plan_beta_likeness_classes(source, columns, sensitive, variant, beta, nulls) AS
{{ reid_plan_offending(source, columns, sensitive, 'beta ' || variant, 0, reid_above(beta), nulls) }}
;

PLAN reid_plan_delta_disclosure(source, columns, sensitive, variant, groups, nulls) AS
{{ reid_plan_disclosure(source, columns, sensitive, 'delta ' || variant, 0, groups, nulls) }}
;

PLAN reid_plan_delta_disclosure_classes(source, columns, sensitive, variant, delta, nulls) AS
{{ reid_plan_offending(source, columns, sensitive, 'delta ' || variant, 0, reid_above(delta), nulls) }}
;

-- Beyond a threshold by more than rounding may add to a measure.
PLAN reid_above(threshold) AS value > {{ threshold }} * (1 + ${sensitive.SLACK});

PLAN reid_below(threshold) AS value < {{ threshold }} * (1 - ${sensitive.SLACK});
