-- How DuckDB says the models in a table that copula_json wrote.

PLAN reid_plan_saved(source) AS
{% call reid_guarded('columns of the saved models', source, ['model', 'json']) %}
  SELECT row_number() OVER () AS line, *, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT "model"::VARCHAR, "json"::VARCHAR FROM {{ source }} AS reid_source
  ) AS reid_saved(model, json)
{% endcall %}
;
