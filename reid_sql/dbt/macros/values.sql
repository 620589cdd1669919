{# What tests of a sensitive column share. #}
{% macro request_of_values(relation, quasi_identifiers, sensitive, nulls, mask_below, keep) -%}
{%- set nulls = reid_sql.choice('nulls', nulls, ['value', 'drop']) %}
{%- do return(reid_sql.request(relation, quasi_identifiers, nulls, mask_below, keep, sensitive, ['value'])) %}
{%- endmacro %}

{# The size and the measure of each class, from its cells. #}
{% macro measured(request, measure, cells='reid_cells') -%}
reid_classes as (
  select {{ request.places | join(', ') }}, {{ reid_sql.total('reid_n') }} as reid_size,
    {{ measure }} as reid_value
  from {{ cells }}
  group by {{ request.places | join(', ') }}
)
{%- endmacro %}

{# What rounding may add to a measure, and no more. #}
{% macro slack() %}{% do return(1e-12) %}{% endmacro %}
