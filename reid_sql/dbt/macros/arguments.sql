{# The model as a CTE, whether it is a table or, with `where`, a query; and columns as a list in SQL. #}
{% macro model_as_cte(model) %}with reid_model as (select * from {{ model }}){% endmacro %}

{% macro text(value) %}'{{ value | string | replace("'", "''") }}'{% endmacro %}

{% macro columns(names) -%}
[{% for name in names %}{{ reid_sql.text(name) }}{{ ", " if not loop.last }}{% endfor %}]
{%- endmacro %}

{# A count of records; fewer than the mask are told as the mask: how few there are can identify them. #}
{% macro masked(count, below) -%}
case when {{ count }} between 1 and {{ below }} - 1 then {{ below }} else {{ count }} end
{%- endmacro %}
