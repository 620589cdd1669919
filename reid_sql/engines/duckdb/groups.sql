-- Groups of a table: the columns by whose values it is divided.

-- The columns, or the refusal where NULL may be any value.
MACRO reid_groups(reid_by, nulls) AS
CASE WHEN nulls = 'wildcard'
THEN error('by must be asked with nulls := ''value'' or ''drop'', got ''wildcard''; '
  || 'ask about each group in a view of its own')
ELSE reid_by::VARCHAR[] END;

-- The columns, or the refusal of those that are named like one of the answer beside them.
MACRO reid_beside(reid_by, answer) AS
CASE WHEN len(list_filter(reid_by, lambda reid_b: list_contains(answer, reid_fold(reid_b)))) > 0
THEN error('by must not name a column as the answer names its own, got '''
  || list_extract(list_filter(reid_by, lambda reid_b: list_contains(answer, reid_fold(reid_b))), 1)
  || '''; rename the column in a view')
ELSE reid_by END;

-- The text in which the columns stand, NULL or a list that is checked where the text runs: a call without
-- groups is not to bind the check. `answer` is the text of a list: what the answer names its own columns.
PLAN reid_by_listed(given, answer) AS
{% if given IS NULL %}
NULL::VARCHAR[]
{% else %}
reid_beside(reid_listed('by', {{ coalesce(
  '[' || reid_join(list_transform(try_cast(given AS VARCHAR[]), lambda b: reid_text_or_null(b)), ', ') || ']',
  reid_text(given::VARCHAR)) }}), {{ answer }})
{% endif %}
;

-- What the columns are called in a refusal.
MACRO reid_words_by(entity) AS
CASE WHEN entity IS NULL THEN 'quasi-identifiers and by' ELSE 'quasi-identifiers, by and entity' END;

-- All columns that must be in the table, each once.
MACRO reid_apart(columns, others) AS
list_concat(
  columns, list_filter(others, lambda reid_b: NOT list_contains(reid_folded(columns), reid_fold(reid_b))));

-- The numbers of the columns from one place to another.
MACRO reid_places(first, last) AS list_transform(range(first, last + 1), lambda reid_i: 'q' || reid_i);

-- The groups' columns before others, each with a comma after it: so many, after so many others.
MACRO reid_head(others, number) AS
reid_join(list_transform(reid_places(others + 1, others + number), lambda reid_q: reid_q || ', '), '');

-- All rows that are kept, where a plan needs them one by one.
PLAN reid_taken_by_group(source, columns, groups, nulls) AS
reid_taken AS (
  FROM {{ reid_rows(source, list_concat(columns, groups), 'value') }}
  {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
)
;

-- Whether two relations have the same values in the columns, NULL like NULL.
PLAN reid_alike(one, other, places) AS
{% for q in places join ' AND ' %}{{ one }}.{{ q }} IS NOT DISTINCT FROM {{ other }}.{{ q }}{% endfor %}
;

-- What is counted of each group, all groups there, with how many records were dropped of each; the columns of
-- the groups stand under names that none of ours can meet, and the answer gives them back. `sized` makes
-- reid_sized, by group, of reid_divided: the distinct rows by the columns and the groups, with their counts,
-- and whether they are kept. `counts` are its columns that are told.
PLAN reid_by_group(source, words, columns, groups, entity, nulls, counts, sized) AS
{% set every = list_concat(columns, groups) %}
{% set places = reid_places(len(columns) + 1, len(every)) %}
{% call reid_guarded(words, source, reid_apart(reid_with_entity(columns, entity, nulls), groups)) %}
  WITH reid_divided AS MATERIALIZED (
    SELECT *, {% if nulls = 'drop' %}{{ reid_all_known(columns) }}{% else %}true{% endif %} AS kept
    FROM (
      SELECT {{ reid_numbered(every) }},
        {% if entity IS NULL %}NULL{% else %}q{{ len(every) + 1 }}{% endif %} AS entity, count(*) AS records
      FROM {{ reid_rows(
        source, CASE WHEN entity IS NULL THEN every ELSE list_append(every, entity) END, 'value') }}
      GROUP BY ALL
    )
  ),
  {{ sized }},
  reid_groups AS (
    SELECT {{ reid_join(places, ', ') }},
      coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
    FROM reid_divided GROUP BY {{ reid_join(places, ', ') }}
  )
  SELECT
    {% for c, i in groups join ', ' %}g.q{{ len(columns) + i }} AS {{ reid_name(${GROUP} || c) }}{% endfor %},
    {{ counts }}, records_dropped, {{ reid_text(nulls) }} AS nulls
  FROM reid_groups AS g LEFT JOIN reid_sized AS s ON {{ reid_alike('g', 's', places) }}
{% endcall %}
;

-- The histogram of each group, of reid_met: rows of reid_divided that are kept, each with the size of its
-- class, and whether a population holds fewer of that class.
PLAN reid_sized_by_group(groups, every, alike, of_people) AS
reid_sized AS (
{% if of_people %}
  SELECT c.*, p.records, p.uncovered
  FROM (
    SELECT {{ groups }}, class_size, count(*) AS classes
    FROM (SELECT DISTINCT {{ every }}, class_size FROM reid_met)
    GROUP BY {{ groups }}, class_size
  ) AS c
  LEFT JOIN (
    SELECT {{ groups }}, class_size, count(*) AS records, count(*) FILTER (short) AS uncovered
    FROM (
      SELECT {{ groups }}, min(class_size) AS class_size, bool_or(short) AS short
      FROM reid_met GROUP BY {{ groups }}, entity
    )
    GROUP BY {{ groups }}, class_size
  ) AS p ON c.class_size = p.class_size AND {{ alike }}
{% else %}
  SELECT {{ groups }}, class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER (short), 0)::BIGINT AS uncovered
  FROM reid_met
  GROUP BY {{ groups }}, class_size
{% endif %}
)
;
