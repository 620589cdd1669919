{# What plain SQL does not say is answered by the functions that the plugin puts into dbt-duckdb: from the
   model as a CTE, whether it is a table or, with `where`, a query. #}
{% macro by_functions(request, what, population=none) -%}
{%- do reid_sql.refuse_without_functions(what) %}
with reid_model as (select * from {{ request.relation }})
{%- if population %}, reid_population as (select * from {{ population }}){% endif %}
{%- endmacro %}

{# Columns as a list in SQL. #}
{% macro names(columns) -%}
[{% for column in columns %}{{ reid_sql.text(column.name) }}{{ ', ' if not loop.last }}{% endfor %}]
{%- endmacro %}

{% macro refuse_without_functions(what) -%}
{%- if target.type != 'duckdb' %}
{%- do reid_sql.refuse('the adapter must be duckdb for ' ~ what ~ ', got ' ~ target.type
  ~ "; there reid-sql's functions answer it") %}
{%- endif %}
{%- if reid_sql.is_run() and not reid_sql.columns_in(
  "select function_name, function_type from duckdb_functions() where function_name = 'risk_summary'") %}
{%- do reid_sql.refuse('the plugin must be in profiles.yml for ' ~ what
  ~ ', got none; write plugins: [{module: reid_sql.dbt}]') %}
{%- endif %}
{%- endmacro %}
