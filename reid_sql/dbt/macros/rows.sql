{# Warns of a column that is named like an identifier and repeats, as a row is then perhaps not a person: dbt
   shows it even of a test that passes, and --warn-error makes it an error. One scan, where a column has such
   a name. #}
{% macro warn_of_rows(request) -%}
{%- if reid_sql.is_run() %}
{%- set named, counts = [], [] %}
{%- for column in reid_sql.columns_of(request.relation)
  if column not in request.every and reid_sql.is_identifier(column.name) %}
{%- do named.append(column.name) %}
{%- do counts.append('count(distinct ' ~ reid_sql.alike(column) ~ ') as reid_v' ~ loop.index
  ~ ', count(' ~ reid_sql.quoted(column.name) ~ ') as reid_n' ~ loop.index) %}
{%- endfor %}
{%- set counted = run_query('select ' ~ counts | join(', ') ~ ' from ' ~ request.relation).rows[0]
  if named else [] %}
{%- for name in named %}
{%- set values, rows = counted[2 * loop.index0] | int, counted[2 * loop.index0 + 1] | int %}
{%- if 1 < values < rows %}{% do exceptions.warn(reid_sql.sentence_of_rows(name, values, rows)) %}{% endif %}
{%- endfor %}
{%- endif %}
{%- endmacro %}

{% macro is_identifier(name) %}
{% set people = 'person|people|patient|subject|customer|client|member|user|respondent|employee|student'
  ~ '|participant|citizen' %}
{% set words = '(^|_|\\b)(id|uuid|guid|pid|ssn|nhs_number|mrn|(' ~ people
  ~ ')(_?(id|nr|no|number|key|code))?)$' %}
{% do return(modules.re.search(words, name | lower) is not none) %}
{% endmacro %}

{% macro sentence_of_rows(name, values, rows) %}
{% do return("Column '" ~ name ~ "' looks like an identifier and repeats (" ~ '{:,}'.format(values)
  ~ ' values in ' ~ '{:,}'.format(rows) ~ ' rows): if it identifies people, test a model with a row of each, '
  ~ 'or name it as entity in a policy (reid_policy).') %}
{% endmacro %}
