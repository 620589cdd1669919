{# What a test's arguments may be: the value, or one sentence with the rule, the value and a remedy. #}
{% macro refuse(sentence) %}{% do exceptions.raise_compiler_error(sentence) %}{% endmacro %}

{% macro number(name, value, rule, remedy, low, high, whole=false) %}
{% set text = value | string | trim %}
{% set known = value is not boolean
  and modules.re.match('^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$', text) is not none %}
{% set found = text | float if known else low - 1 %}
{% if found < low or found > high or (whole and found != found | round(0, 'floor')) %}
{% do reid_sql.refuse(name ~ ' must be ' ~ rule ~ ', got ' ~ text ~ '; ' ~ remedy) %}
{% endif %}
{% do return(found | int if whole else found) %}
{% endmacro %}

{% macro share(name, value) %}
{% set remedy = 'pass one, such as 0.01 for 1 %' %}
{% do return(reid_sql.number(name, value, 'a share between 0 and 1', remedy, 0, 1)) %}
{% endmacro %}

{% macro risk(name, value) %}
{% do return(reid_sql.number(name, value, 'a risk between 0 and 1',
  'pass the risk above which a record counts as at risk, such as 0.2 for classes of fewer than 5', 0, 1)) %}
{% endmacro %}

{% macro least_records(name, value) %}
{% do return(reid_sql.number(name, value, 'a whole number of records from 1 to 1e+15',
  'pass how many records a class must contain at the least, such as 5', 1, 1e15, true)) %}
{% endmacro %}

{% macro mask(value) %}
{% do return(reid_sql.number('mask_below', value, 'a whole number from 1 to 1000',
  'write how few records are masked, such as 10', 1, 1000, true)) %}
{% endmacro %}

{% macro choice(name, value, words) %}
{% if value not in words %}
{% set listed = "'" ~ words | join("', '") ~ "'" %}
{% do reid_sql.refuse(name ~ ' must be one of ' ~ listed ~ ", got '" ~ value ~ "'; "
  ~ reid_sql.suggestion(value | string, words, 'choices')) %}
{% endif %}
{% do return(value) %}
{% endmacro %}
