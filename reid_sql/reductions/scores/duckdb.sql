-- How DuckDB says the distinct records, scored under a fitted model.

PLAN reid_plan_scored_classes(source, model, population) AS
{% set found = reid_model_columns(reid_database(), model) %}
{% if found['refusal'] IS NOT NULL %}
  SELECT 1::BIGINT AS place, 1::BIGINT AS class_size, 1::DOUBLE AS uniqueness_xi,
    0::BIGINT AS records_dropped,
    'value' AS nulls
  FROM ({{ reid_refused(found['refusal']) }})
{% else %}
{% call reid_with_scores(source, found['columns'], found['places'],
  'reid_home.main.reid_answered_score_copula',
  reid_text(model) || ', ' || reid_text(population::VARCHAR) || ', ''ignored'')') %}
  SELECT row_number() OVER () AS place, reid_answer.class_size AS class_size,
    reid_answer.uniqueness_xi AS uniqueness_xi, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM reid_scored
{% endcall %}
{% endif %}
;
