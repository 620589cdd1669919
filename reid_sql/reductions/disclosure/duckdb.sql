-- How DuckDB measures what each class gives away about a sensitive column.
-- A cell is a class and a sensitive value in it: its keys, the value s, and n records.

PLAN reid_cells(source, columns, sensitive, nulls) AS
SELECT {{ reid_numbered(columns) }}, q{{ len(columns) + 1 }} AS s, count(*) AS n
FROM {{ reid_rows(source, list_append(columns, sensitive), nulls) }}
GROUP BY ALL
;

-- How many classes of reid_cells have each size and value of the measure. Beside these is shown, as columns
-- before others: the keys, where classes are listed, the groups by whose values the table is divided, each a
-- table of its own, or nothing. What else the texts of the measures need of the keys, `places`, and of the
-- groups: the keys, where two rows c and h are of one class, the groups as columns before others, where two
-- rows are of one group, and the words by which a window is of one.
PLAN reid_measured(measure, sensitive, c, places, groups, listed) AS
FROM query(
{% if measure IN ('l distinct', 'l entropy', 'alpha') %}reid_counted(
{% elif measure = 'l recursive' %}reid_recursion(
{% elif measure = 't equal' %}reid_distance(
{% elif measure IN ('t ordered', 't numeric') %}reid_distance_along(
{% else %}reid_gained(
{% endif %}
{{ reid_text(measure) }}, {{ reid_text(sensitive) }}, {{ c }}, {{ reid_text(reid_join(places, ', ')) }},
{{ reid_text(reid_same(places)) }}, {{ reid_text(reid_first(CASE WHEN listed THEN places ELSE groups END)) }},
{{ reid_text(reid_first(groups)) }}, {{ reid_text(reid_same(groups)) }},
{{ reid_text(CASE WHEN len(groups) > 0 THEN 'PARTITION BY ' || reid_join(groups, ', ') ELSE '' END) }}))
;

MACRO reid_first(places) AS reid_join(list_transform(places, lambda reid_q: reid_q || ', '), '');

PLAN reid_same(places) AS true{% for q in places %} AND c.{{ q }} IS NOT DISTINCT FROM h.{{ q }}{% endfor %};

-- What the records of each value in a class say alone.
PLAN reid_counted(measure, sensitive, c, keys, alike, shown, first, same, within) AS
SELECT {{ shown }} sum(n)::BIGINT AS class_size, 1 AS classes,
  {% if measure = 'l distinct' %}
  count(*)::DOUBLE
  {% elif measure = 'l entropy' %}
  CASE WHEN max(n) * count(*) = sum(n) THEN count(*)::DOUBLE
    ELSE exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) END
  {% else %}
  max(n)::DOUBLE / sum(n)
  {% endif %} AS value
FROM reid_cells GROUP BY {{ keys }}
;

-- Classes of one value, counted by it and their size, and the cells of the others: what is said of a class of
-- one value needs no other cell, and nearly all are such in a table of nearly unique records. Where they are
-- fewer, by an estimate upon which no answer depends, it is quicker to take all cells for those of others.
PLAN reid_apart_by_parts(keys, alike, shown) AS
reid_sparse AS MATERIALIZED (
  SELECT approx_count_distinct(({{ keys }})) > ${NEARLY_ALL} * count(*) AS sparse FROM reid_cells
),
reid_many AS MATERIALIZED (
  SELECT {{ keys }} FROM reid_cells WHERE (FROM reid_sparse) GROUP BY {{ keys }} HAVING count(*) > 1
),
reid_alone AS MATERIALIZED (
  SELECT {{ shown }} s, n, {% if shown = keys || ', ' %}1{% else %}count(*){% endif %} AS classes
  FROM reid_cells AS c ANTI JOIN reid_many AS h ON {{ alike }}
  WHERE (FROM reid_sparse)
  {% if shown <> keys || ', ' %}GROUP BY ALL{% endif %}
),
reid_rest AS MATERIALIZED (
  SELECT c.* FROM reid_cells AS c SEMI JOIN reid_many AS h ON {{ alike }}
  UNION ALL
  FROM reid_cells WHERE NOT (FROM reid_sparse)
)
;

-- The records of each value, of these.
PLAN reid_pieces(first) AS
(
  SELECT {{ first }} s, n * classes AS n FROM reid_alone UNION ALL SELECT {{ first }} s, n FROM reid_rest
)
;

-- Each sensitive value with the records that hold it, and how many records and values there are.
PLAN reid_held(first) AS
reid_held AS MATERIALIZED (
  SELECT {{ first }} s AS v, sum(n)::BIGINT AS held FROM {{ reid_pieces(first) }} GROUP BY {{ first }} s
),
reid_whole AS MATERIALIZED (
  SELECT {{ first }} sum(held)::BIGINT AS total, count(*) AS kinds FROM reid_held GROUP BY ALL
)
;

-- How much more, or less, frequent a value is in a class than in the table; `allowed` is how many records a
-- class must have for each that holds the value, so that its gain stays within -ln q.
PLAN reid_gained(measure, sensitive, c, keys, alike, shown, first, same, within) AS
WITH {{ reid_apart_by_parts(keys, alike, shown) }},
{{ reid_held(first) }},
reid_allowed AS (
  SELECT c.*,
    {% if measure = 'beta enhanced' %}total / (held * (1 - ln(held::DOUBLE / total))){% else %}NULL{% endif %}
      AS allowed
  FROM reid_held AS c JOIN reid_whole AS h ON {{ same }}
)
SELECT {{ shown }} size AS class_size, classes,
  {% if measure = 'beta basic' %}
  greatest(0, most * total / size - 1)
  {% elif measure = 'beta enhanced' %}
  CASE WHEN needed <= size THEN greatest(0, most * total / size - 1) ELSE 'infinity'::DOUBLE END
  {% else %}
  {% if measure = 'delta all' %}CASE WHEN parts < kinds THEN 'infinity'::DOUBLE ELSE{% endif %}
  ln(greatest(1, most * total / size, size / (least * total)))
  {% if measure = 'delta all' %}END{% endif %}
  {% endif %} AS value
FROM (
  SELECT c.*, total, kinds
  FROM (
    SELECT {{ shown }} classes, n AS size, n::DOUBLE / held AS most, n::DOUBLE / held AS least,
      n * allowed AS needed, 1 AS parts
    FROM (
      SELECT c.*, held, allowed
      FROM reid_alone AS c JOIN reid_allowed AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
    )
    UNION ALL
    SELECT {{ shown }} 1 AS classes, sum(n)::BIGINT AS size, max(n::DOUBLE / held) AS most,
      min(n::DOUBLE / held) AS least, max(n * allowed) AS needed, count(*) AS parts
    FROM (
      SELECT c.*, held, allowed
      FROM reid_rest AS c JOIN reid_allowed AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
    )
    GROUP BY {{ keys }}
  ) AS c JOIN reid_whole AS h ON {{ same }}
)
;

-- How far the shares of a class are from those of the table. Of a class in which each of its values is at
-- least as frequent as in the table, as in nearly every small class, it is the share of all other values: one
-- GROUP BY says it. The others are measured from their cells.
PLAN reid_distance(measure, sensitive, c, keys, alike, shown, first, same, within) AS
WITH {{ reid_apart_by_parts(keys, alike, shown) }},
{{ reid_held(first) }},
reid_shares AS (SELECT c.*, total FROM reid_held AS c JOIN reid_whole AS h ON {{ same }}),
reid_classes AS MATERIALIZED (
  SELECT {{ keys }}, size, total, 1 - alike::DOUBLE / total AS apart, least * total >= size AS settled
  FROM (
    SELECT c.*, total
    FROM (
      SELECT {{ keys }}, sum(n)::BIGINT AS size, sum(held) AS alike, min(n::DOUBLE / held) AS least
      FROM (
        SELECT c.*, held
        FROM reid_rest AS c JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
      )
      GROUP BY {{ keys }}
    ) AS c JOIN reid_whole AS h ON {{ same }}
  )
),
reid_several AS MATERIALIZED (
  SELECT c.*, size, total
  FROM reid_rest AS c JOIN (FROM reid_classes WHERE NOT settled) AS h ON {{ alike }}
)
SELECT {{ shown }} n AS class_size, classes, 1 - held::DOUBLE / total AS value
FROM (
  SELECT c.*, held, total
  FROM reid_alone AS c JOIN reid_shares AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
)
UNION ALL
SELECT {{ shown }} size AS class_size, 1 AS classes, apart AS value FROM reid_classes WHERE settled
UNION ALL
SELECT {{ shown }} any_value(size) AS class_size, 1 AS classes,
  sum(greatest(0, n::DOUBLE / size - held::DOUBLE / total)) AS value
FROM (
  SELECT c.*, held FROM reid_several AS c JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
)
GROUP BY {{ keys }}
;

-- From how many places on all values together, c times, are more than the most frequent one.
PLAN reid_recursion(measure, sensitive, c, keys, alike, shown, first, same, within) AS
WITH {{ reid_apart_by_parts(keys, alike, shown) }}
SELECT {{ shown }} n AS class_size, classes, {% if c > 1 %}1{% else %}0{% endif %}::DOUBLE AS value
FROM reid_alone
UNION ALL
SELECT {{ shown }} sum(n)::BIGINT AS class_size, 1 AS classes,
  count(*) FILTER (largest < {{ c }} * tail)::DOUBLE AS value
FROM (
  SELECT *, max(n) OVER (by_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS largest,
    sum(n) OVER (by_number ROWS UNBOUNDED PRECEDING) AS tail
  FROM reid_rest
  WINDOW by_number AS (PARTITION BY {{ keys }} ORDER BY n ASC)
)
GROUP BY {{ keys }}
;

-- The place of a value on the line: its number among all values, or itself.
PLAN reid_place(measure, sensitive, within) AS
{% if measure = 't ordered' %}
CASE WHEN regexp_full_match(typeof(s),
    'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|BOOLEAN|ENUM.*')
  THEN CASE WHEN s IS NOT NULL THEN row_number() OVER ({{ within }} ORDER BY s ASC NULLS LAST) - 1 END
  ELSE error({{ reid_text('sensitive must be a column of numbers, dates, times, booleans or ENUMs for '
    || 'variant := ''ordered'', got ''' || sensitive
    || '''; cast it to one of them, or pass variant := ''equal''') }})::BIGINT END
{% else %}
CASE WHEN regexp_full_match(typeof(s), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*')
  THEN CASE WHEN isfinite(try_cast(s::VARCHAR AS DOUBLE)) THEN try_cast(s::VARCHAR AS DOUBLE) END
  ELSE error({{ reid_text(
    'sensitive must be a column of numbers for variant := ''numeric'', got ''' || sensitive
    || '''; cast it to a number, or pass variant := ''equal''') }})::DOUBLE END
{% endif %}
;

-- Each sensitive value with its place x from 0 to 1, the share f of records up to it, and the area g under f
-- left of it: x times the records before it, less the sum of their own x. x is spot / last.
PLAN reid_line(measure, sensitive, first, same, within) AS
reid_placed AS MATERIALIZED (
  SELECT {{ first }} s AS v, sum(n)::BIGINT AS held, {{ reid_place(measure, sensitive, within) }} AS place
  FROM {{ reid_pieces(first) }} GROUP BY {{ first }} s
),
reid_whole AS MATERIALIZED (
  SELECT {{ first }} sum(held)::DOUBLE AS total, min(place) AS least, max(place) AS most,
    count(place) = count(*) AS known
  FROM reid_placed GROUP BY ALL
),
reid_spread AS (
  SELECT c.*, total,
    {% if measure = 't ordered' %}
    CASE WHEN known THEN greatest(most, 1) END AS last, CASE WHEN most = 0 THEN 1 ELSE place END AS spot
    {% else %}
    CASE WHEN known THEN 1 END AS last,
    CASE WHEN most = least THEN 1 ELSE (place / 2 - least / 2) / (most / 2 - least / 2) END AS spot
    {% endif %}
  FROM reid_placed AS c JOIN reid_whole AS h ON {{ same }}
),
reid_held AS MATERIALIZED (
  SELECT {{ first }} v, spot::DOUBLE / last AS x, reached / total AS f,
    (spot * reached - moment) / (last * total) AS g
  FROM (
    SELECT *, sum(held) OVER so_far AS reached, sum(spot * held) OVER so_far AS moment FROM reid_spread
    WINDOW so_far AS ({{ within }} ORDER BY place ASC ROWS UNBOUNDED PRECEDING)
  )
),
reid_area AS MATERIALIZED (SELECT {{ first }} max(g) AS area FROM reid_held GROUP BY ALL)
;

-- How far the records of a class must move along the line to be distributed as the table is: the area between
-- the two shares of records up to each value, run by run between the class's own values.
PLAN reid_distance_along(measure, sensitive, c, keys, alike, shown, first, same, within) AS
WITH {{ reid_apart_by_parts(keys, alike, shown) }},
{{ reid_line(measure, sensitive, first, same, within) }}
SELECT {{ shown }} n AS class_size, classes, value
FROM (
  SELECT c.*, value
  FROM reid_alone AS c
  JOIN (
    SELECT c.*, 2 * g - area + 1 - x AS value FROM reid_held AS c JOIN reid_area AS h ON {{ same }}
  ) AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
)
UNION ALL
SELECT {{ shown }} sum(n)::BIGINT AS class_size, 1 AS classes,
  sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g)
    AS value
FROM (
  SELECT *,
    CASE WHEN coalesce(found_x, next_x) <= x THEN x WHEN coalesce(found_x, next_x) >= next_x THEN next_x
      ELSE found_x END AS cross_x,
    CASE WHEN coalesce(found_x, next_x) <= x THEN g WHEN coalesce(found_x, next_x) >= next_x THEN next_g
      ELSE found_g END AS cross_g
  FROM (
    SELECT c.*, h.x AS found_x, h.g AS found_g
    FROM (
      SELECT *, row_number() OVER by_value = 1 AS first,
        (sum(n) OVER by_value)::DOUBLE
          / sum(n) OVER (by_value ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS reached,
        coalesce(lead(x) OVER by_value, 1) AS next_x, coalesce(lead(g) OVER by_value, area) AS next_g
      FROM (
        SELECT c.*, area
        FROM (
          SELECT c.*, x, g
          FROM reid_rest AS c JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND {{ same }}
        ) AS c JOIN reid_area AS h ON {{ same }}
      )
      WINDOW by_value AS (PARTITION BY {{ keys }} ORDER BY x ASC)
    ) AS c ASOF LEFT JOIN reid_held AS h ON {{ same }} AND reached < h.f
  )
)
GROUP BY {{ keys }}
;

-- The same of a table's records; every class, with its keys, where they are to be listed.
PLAN reid_disclosed(source, columns, sensitive, measure, c, nulls, listed) AS
WITH reid_cells AS MATERIALIZED ({{ reid_cells(source, columns, sensitive, nulls) }})
{{ reid_measured(measure, sensitive, c, reid_places(1, len(columns)), []::VARCHAR[], listed) }}
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
  SELECT class_size, value, sum(classes)::BIGINT AS classes
  FROM ({{ reid_disclosed(source, columns, sensitive, measure, c, nulls, false) }})
  GROUP BY class_size, value
{% endcall %}
{% endcall %}
{% else %}
FROM query(reid_are_listed('quasi-identifiers and sensitive',
  list_append({{ reid_texts(columns) }}, {{ reid_text_or_null(sensitive) }})))
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
    SELECT {{ reid_join(places, ', ') }}, class_size, value, sum(classes)::BIGINT AS classes
    FROM (
      {{ reid_measured(
        measure, sensitive, c, list_concat(places, reid_places(1, len(columns))), places, false) }}
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
  FROM ({{ reid_disclosed(source, columns, sensitive, measure, c, nulls, true) }})
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
PLAN reid_above(threshold) AS value > {{ threshold }} * (1 + ${sensitive.MEASURE_TOLERANCE});

PLAN reid_below(threshold) AS value < {{ threshold }} * (1 - ${sensitive.MEASURE_TOLERANCE});
