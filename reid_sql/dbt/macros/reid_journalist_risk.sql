{# Fails where more than the share at_most of the records has a risk above the threshold against somebody who
   must find the person in a population, that of another model. Failures are the records at risk. Where the
   population has fewer such records than the model itself, the model's own count. #}
{% test reid_journalist_risk(model, population, quasi_identifiers, threshold=0.2, at_most=0, nulls='value',
  mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model, population]) %}
{%- set threshold = reid_sql.risk('threshold', threshold) %}
{%- set at_most = reid_sql.share('at_most', at_most) %}
{%- set request = reid_sql.request(model, quasi_identifiers, nulls, mask_below, keep) %}
{%- set every = reid_sql.request(population, quasi_identifiers, nulls, mask_below) %}
{%- if request.nulls == 'wildcard' %}
{{ reid_sql.by_functions(request, "nulls: 'wildcard'", population) }}
select {{ reid_sql.masked('round(records_at_risk * records)::bigint', request.mask) }} as failures
from journalist_risk(reid_model, reid_population, {{ reid_sql.names(request.qi) }},
  threshold := {{ threshold }}, nulls := 'wildcard')
where records_at_risk > {{ at_most }}
{%- else %}
{%- set places = reid_sql.places(request.qi) | join(', ') %}
{%- set at_risk = reid_sql.double(1) ~ ' / reid_size > ' ~ reid_sql.double(threshold) %}
{%- set class_or_zero = 'max(reid_class)' if request.keep == 'records' else 0 %}
with {{ reid_sql.rows_of(request) }},
reid_both as (
  select {{ places }}, {{ class_or_zero }} as reid_class, {{ reid_sql.count() }} as reid_own, 0 as reid_there
  from reid_rows
  group by {{ places }}
  union all
  select {{ places }}, 0 as reid_class, 0 as reid_own, {{ reid_sql.count() }} as reid_there
  from ({{ reid_sql.aliased_rows(every) }}) reid_population
  group by {{ places }}
),
reid_met as (
  select {{ places }}, max(reid_class) as reid_class, {{ reid_sql.total('reid_own') }} as reid_records,
    {{ reid_sql.total('reid_there') }} as reid_there
  from reid_both
  group by {{ places }}
),
reid_classes as (
  select {{ places }}, reid_class, reid_records,
    case when reid_there < reid_records then reid_records else reid_there end as reid_size
  from reid_met
  where reid_records > 0
),
reid_totals as ({{ reid_sql.share_of('reid_records', at_risk) }})
{{ reid_sql.offending(request, at_risk ~ ' and reid_share > ' ~ reid_sql.double(at_most),
  from='reid_classes cross join reid_totals', records='reid_records') }}
{%- endif %}
{%- endif %}
{%- endtest %}
