-- Records under a fitted model, and drawn from one.

-- Records drawn from a model, each by its place alone: the engine streams the places.
PLAN reid_plan_drawn(model, head, n, tail) AS
{% set found = model %}
{% if found['refusal'] IS NOT NULL %}
{{ reid_refused(found['refusal']) }}
{% else %}
SELECT {% for c, i in found['columns'] join ', ' %}reid_drawn[{{ i }}] AS {{ reid_name(c) }}{% endfor %}
FROM (
  SELECT {{ head }}(reid_database(), {{ tail }}, reid_place) AS reid_drawn
  FROM range({{ n }}) AS reid_places(reid_place)
)
{% endif %}
;

-- Distinct records, scored in the model's order, so that those that begin alike stand together; before a body
-- over them.
PLAN reid_with_scores(source, model_columns, places, head, tail, body) AS
{% call reid_guarded('columns of the model', source, model_columns) %}
  WITH reid_distinct AS MATERIALIZED (
    SELECT *, count(*) AS class_size FROM {{ reid_rows(source, model_columns, 'value') }} GROUP BY ALL
  ),
  reid_scored AS MATERIALIZED (
    SELECT {% for c, i in model_columns join ', ' %}q{{ i }} AS reid_q{{ i }}{% endfor %},
      {{ head }}(
        [{% for c, i in model_columns join ', ' %}reid_written(q{{ i }}){% endfor %}], class_size, {{ tail }}
      AS reid_answer
    FROM (FROM reid_distinct ORDER BY {% for i in places join ', ' %}q{{ i }} ASC NULLS LAST{% endfor %})
  )
  {{ body }}
{% endcall %}
;

-- The table's rows beside the scores of their values.
PLAN reid_plan_scored(source, model, head, tail, added) AS
{% set found = model %}
{% if found['refusal'] IS NOT NULL %}
{{ reid_refused(found['refusal']) }}
{% else %}
{% call reid_with_scores(source, found['columns'], found['places'], head, tail) %}
  SELECT reid_own.*, unnest(reid_answer)
  FROM (FROM {{ source }}) AS reid_own JOIN reid_scored
    ON {% for c, i in found['columns'] join ' AND ' %}{{ reid_name(c) }}
      IS NOT DISTINCT FROM reid_q{{ i }}{% endfor %}
  WHERE reid_kept_apart((SELECT list(column_name) FROM (DESCRIBE FROM {{ source }})),
    {{ reid_texts(added) }})
{% endcall %}
{% endif %}
;
