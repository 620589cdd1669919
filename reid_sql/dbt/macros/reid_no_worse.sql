{# Fails where a measure of the model is worse than that of another relation: of what was released last.
   Failures are such measures, with both figures; fewer records than the mask are reported as the mask. #}
{% test reid_no_worse(model, before, quasi_identifiers, threshold=0.2, nulls='value', mask_below=10,
  measures=['k', 'uniqueness', 'average_risk', 'records_at_risk']) -%}
{{ config(fail_calc='count(*)') }}
{%- if reid_sql.is_there([model, before]) %}
{%- set threshold = reid_sql.risk('threshold', threshold) %}
{%- set nulls = reid_sql.choice('nulls', nulls, ['value', 'drop']) %}
{%- set now = reid_sql.request(model, quasi_identifiers, nulls, mask_below) %}
{%- set then = reid_sql.request(before, quasi_identifiers, nulls, mask_below) %}
{%- set known = {'k': 'reid_k', 'uniqueness': 'reid_unique', 'average_risk': 'reid_classes',
  'records_at_risk': 'reid_at_risk'} %}
with reid_now as ({{ reid_sql.figures(now, threshold) }}),
reid_then as ({{ reid_sql.figures(then, threshold) }})
{%- for measure in ([measures] if measures is string else measures) %}
{%- set measure = reid_sql.choice('measures', measure, known | list) %}
{{ 'union all' if not loop.first }}
select '{{ measure }}' as measure,
  {{ reid_sql.figure('reid_now', known[measure], now.mask) }} as figure,
  {{ reid_sql.figure('reid_then', known[measure], now.mask) }} as figure_before
from reid_now cross join reid_then
where {{ reid_sql.figure('reid_now', known[measure]) }} {{ '<' if measure == 'k' else '>' }}
  {{ reid_sql.figure('reid_then', known[measure]) }}
{%- else %}
{%- do reid_sql.refuse('measures must be a list of one or more, got none; write [records_at_risk]') %}
{%- endfor %}
{%- endif %}
{%- endtest %}

{# The counts that the measures of a table are made of. #}
{% macro figures(request, threshold) -%}
{%- set at_risk = reid_sql.double(1) ~ ' / reid_size > ' ~ reid_sql.double(threshold) %}
  select min(reid_size) as reid_k, {{ reid_sql.count() }} as reid_classes,
    {{ reid_sql.total('reid_size') }} as reid_records,
    {{ reid_sql.total('case when reid_size = 1 then 1 else 0 end') }} as reid_unique,
    {{ reid_sql.total('case when ' ~ at_risk ~ ' then reid_size else 0 end') }} as reid_at_risk
  from (
    select {{ reid_sql.count() }} as reid_size
    from ({{ reid_sql.aliased_rows(request) }}) reid_aliased
    group by {{ reid_sql.places(request.qi) | join(', ') }}
  ) reid_sized
{%- endmacro %}

{# A share of the records, or the size of the smallest class; `mask` is that of counts that are told. #}
{% macro figure(table, count, mask=1) -%}
{%- set counted = table ~ '.' ~ count -%}
{%- if count == 'reid_k' -%}
{{ reid_sql.double(counted) }}
{%- else -%}
{{ reid_sql.double(reid_sql.masked(counted, mask) if mask > 1 else counted) }}
    / {{ reid_sql.double(table ~ '.reid_records') }}
{%- endif -%}
{%- endmacro %}
