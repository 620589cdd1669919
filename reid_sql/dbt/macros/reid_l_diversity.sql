{# Fails where a class holds fewer than l values of the sensitive column.
   Failures are the records of the classes that offend. #}
{% test reid_l_diversity(model, quasi_identifiers, sensitive, l=2, variant='distinct', c=3,
  nulls='value', mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set l = reid_sql.number('l', l, 'a number of values from 1 to 1e+9',
  'pass how many values a class must contain at the least, such as 2', 1, 1e9) %}
{%- set c = reid_sql.number('c', c, 'a number from 1e-9 to 1e+9',
  'pass how many times the rarer values the most frequent one may be, such as 3', 1e-9, 1e9) %}
{%- set variant = reid_sql.choice('variant', variant, ['distinct', 'entropy', 'recursive']) %}
{%- set request = reid_sql.request_of_values(model, quasi_identifiers, sensitive, nulls, mask_below, keep) %}
with {{ reid_sql.cells_of(request) }},
{%- if variant == 'recursive' %}
reid_rising as (
  select reid_cells.*, max(reid_n) over (partition by {{ request.places | join(', ') }}) as reid_largest,
    sum(reid_n) over (partition by {{ request.places | join(', ') }} order by reid_n
      rows between unbounded preceding and current row) as reid_tail
  from reid_cells
),
{%- endif %}
{{ reid_sql.measured(request, reid_sql.diversity(variant, c),
  'reid_rising' if variant == 'recursive' else 'reid_cells') }}
{{ reid_sql.offending(request, 'reid_value < ' ~ reid_sql.double(l * (1 - reid_sql.slack())), value=true) }}
{%- endif %}
{%- endtest %}

{# How many values a class has, of its cells: all; as many as would be as uncertain if equally frequent; the
   largest l for which the most frequent stays below c times all from the l-th most frequent on. #}
{% macro diversity(variant, c) -%}
{%- if variant == 'distinct' %}
{{ reid_sql.double(reid_sql.count()) }}
{%- elif variant == 'entropy' %}
{%- set n, size = reid_sql.double('reid_n'), reid_sql.double(reid_sql.total('reid_n')) %}
case when max(reid_n) * {{ reid_sql.count() }} = {{ reid_sql.total('reid_n') }}
  then {{ reid_sql.double(reid_sql.count()) }}
  else exp({{ reid_sql.log_of(size) }} - sum({{ n }} * {{ reid_sql.log_of(n) }}) / {{ size }}) end
{%- else %}
{{ reid_sql.double('sum(case when ' ~ reid_sql.double('reid_largest') ~ ' < ' ~ reid_sql.double(c) ~ ' * '
  ~ reid_sql.double('reid_tail') ~ ' then 1 else 0 end)') }}
{%- endif %}
{%- endmacro %}
