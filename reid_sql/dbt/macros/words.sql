{# What databases call the same: whole numbers and quotients wide enough, names of any letters. #}
{% macro double(value) -%}
cast({{ value }} as {{ adapter.dispatch('double_type', 'reid_sql')() }})
{%- endmacro %}
{% macro default__double_type() %}double precision{% endmacro %}
{% macro duckdb__double_type() %}double{% endmacro %}
{% macro bigquery__double_type() %}float64{% endmacro %}
{% macro spark__double_type() %}double{% endmacro %}
{% macro trino__double_type() %}double{% endmacro %}
{% macro athena__double_type() %}double{% endmacro %}
{% macro mysql__double_type() %}double{% endmacro %}
{% macro clickhouse__double_type() %}Float64{% endmacro %}

{# The sum of whole numbers; each is wide already, as counts are. #}
{% macro total(value) -%}
cast(sum({{ value }}) as {{ adapter.dispatch('whole_type', 'reid_sql')() }})
{%- endmacro %}
{% macro default__whole_type() %}bigint{% endmacro %}
{% macro mysql__whole_type() %}signed{% endmacro %}
{% macro clickhouse__whole_type() %}Int64{% endmacro %}

{% macro count() %}{{ adapter.dispatch('count', 'reid_sql')() }}{% endmacro %}
{% macro default__count() %}count(*){% endmacro %}
{% macro sqlserver__count() %}count_big(*){% endmacro %}
{% macro clickhouse__count() %}toInt64(count(*)){% endmacro %}

{% macro log_of(value) %}{{ adapter.dispatch('log_of', 'reid_sql')(value) }}{% endmacro %}
{% macro default__log_of(value) %}ln({{ value }}){% endmacro %}
{% macro sqlserver__log_of(value) %}log({{ value }}){% endmacro %}

{# A name as the database quotes it, with the quotes within it doubled. #}
{% macro quoted(name) %}
{%- set last = adapter.quote('x') | last -%}
{{ adapter.quote(name | replace(last, last ~ last)) }}
{%- endmacro %}

{% macro text(value) %}'{{ value | string | replace("'", "''") }}'{% endmacro %}
