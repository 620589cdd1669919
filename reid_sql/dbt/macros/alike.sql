{# A column so that equal means the same, as collations may take 'a' for 'A', or 'a ' for 'a', and merge
   classes: texts are compared by their bytes, floats with NaN like NaN and 0.0 like -0.0. `shown` makes the
   value again of what `alike` made. An adapter that is not here must say how, in a macro of its own. #}
{% macro alike(column) -%}
{{ adapter.dispatch('alike', 'reid_sql')(reid_sql.quoted(column.name), column.type) }}
{%- endmacro %}

{% macro shown(value, column) -%}
{{ adapter.dispatch('shown', 'reid_sql')(value, column.type) }}
{%- endmacro %}

{% macro is_text(type) %}
{% set words = '(n|long|medium|tiny|bp)?(var)?(char|text)|string|clob|name$' %}
{% do return(modules.re.match(words, type) is not none) %}
{% endmacro %}

{% macro is_float(type) %}
{% do return(modules.re.match('float|double|real', type) is not none) %}
{% endmacro %}

{% macro default__alike(name, type) %}
{% do reid_sql.refuse('the adapter must be one that texts can be compared by bytes on, got ' ~ target.type
  ~ '; write macros ' ~ target.type ~ '__alike(name, type) and ' ~ target.type
  ~ '__shown(value, type) in your project, and name it in its dispatch of reid_sql') %}
{% endmacro %}

{% macro default__shown(value, type) %}{{ value }}{% endmacro %}

{# Types of which equal is the same; any other, as citext, json or interval, is compared as it is written. #}
{% macro postgres__alike(name, type) %}
{%- set plain = 'small|big|integer|numeric|double|real|boolean|date|time|uuid|bytea|bit|money|inet|oid' -%}
{%- if reid_sql.is_text(type) and '[]' not in type -%}
{{ name }} collate "C"
{%- elif modules.re.match(plain, type) and '[]' not in type -%}
{{ name }}
{%- else -%}
cast({{ name }} as text) collate "C"
{%- endif -%}
{% endmacro %}

{# A collation reaches into lists and structs; from one text to another would be no cast. #}
{% macro duckdb__alike(name, type) %}
{%- set nested = modules.re.search('\\]$|^(struct|tuple|map|union)\\(', type) -%}
{%- if nested and 'variant' in type -%}
create_sort_key({{ name }}, 'asc nulls last')
{%- elif nested -%}
replace_type(
  replace_type(replace_type({{ name }}, null::json, null::varchar), null::varchar, null::variant),
  null::variant, null::varchar collate "binary")
{%- elif reid_sql.is_text(type) or type == 'json' -%}
{{ name }} collate "binary"
{%- elif type == 'interval' -%}
cast({{ name }} as varchar) collate "binary"
{%- else -%}
{{ name }}
{%- endif -%}
{% endmacro %}

{# Blanks at the end of a text do not count on Redshift, but before another letter. #}
{% macro redshift__alike(name, type) %}
{%- if reid_sql.is_text(type) -%}
collate({{ name }} || '.', 'case_sensitive')
{%- else -%}
{{ name }}
{%- endif -%}
{% endmacro %}
{% macro redshift__shown(value, type) %}
{%- if reid_sql.is_text(type) -%}
left({{ value }}, len({{ value }}) - 1)
{%- else -%}
{{ value }}
{%- endif -%}
{% endmacro %}

{% macro snowflake__alike(name, type) %}
{%- if reid_sql.is_text(type) -%}collate({{ name }}, ''){%- else -%}{{ name }}{%- endif -%}
{% endmacro %}

{# BigQuery makes no windows by floats. #}
{% macro bigquery__alike(name, type) %}
{%- if reid_sql.is_text(type) -%}
collate({{ name }}, '')
{%- elif reid_sql.is_float(type) -%}
case when {{ name }} = 0 then '0' else cast({{ name }} as string) end
{%- else -%}
{{ name }}
{%- endif -%}
{% endmacro %}
{% macro bigquery__shown(value, type) %}
{%- if reid_sql.is_float(type) -%}cast({{ value }} as float64){%- else -%}{{ value }}{%- endif -%}
{% endmacro %}

{# Databricks, too. #}
{% macro spark__alike(name, type) %}
{%- if reid_sql.is_text(type) -%}cast({{ name }} as binary){%- else -%}{{ name }}{%- endif -%}
{% endmacro %}
{% macro spark__shown(value, type) %}
{%- if reid_sql.is_text(type) -%}cast({{ value }} as string){%- else -%}{{ value }}{%- endif -%}
{% endmacro %}

{# Fabric and Synapse, too. #}
{% macro sqlserver__alike(name, type) %}
{%- if reid_sql.is_text(type) -%}
cast(cast({{ name }} as nvarchar(max)) as varbinary(max))
{%- else -%}
{{ name }}
{%- endif -%}
{% endmacro %}
{% macro sqlserver__shown(value, type) %}
{%- if reid_sql.is_text(type) -%}cast({{ value }} as nvarchar(max)){%- else -%}{{ value }}{%- endif -%}
{% endmacro %}

{# Trino and Athena compare by bytes; texts of fixed length are padded to it. #}
{% macro trino__alike(name, type) %}{{ name }}{% endmacro %}
{% macro athena__alike(name, type) %}{{ name }}{% endmacro %}

{% macro clickhouse__alike(name, type) %}
{%- if 'float' in type -%}
case when isNaN({{ name }}) then nan when {{ name }} = 0 then 0 else {{ name }} end
{%- else -%}
{{ name }}
{%- endif -%}
{% endmacro %}

{% macro mysql__alike(name, type) %}
{%- if reid_sql.is_text(type) or type.startswith('enum') or type.startswith('set') -%}
cast(convert({{ name }} using utf8mb4) as binary)
{%- else -%}
{{ name }}
{%- endif -%}
{% endmacro %}
{% macro mysql__shown(value, type) %}
{%- if reid_sql.is_text(type) or type.startswith('enum') or type.startswith('set') -%}
convert({{ value }} using utf8mb4)
{%- else -%}
{{ value }}
{%- endif -%}
{% endmacro %}
