{# Fails where more than the share at_most of the records has a risk above the threshold.
   Failures are the records at risk. #}
{% test reid_records_at_risk(model, quasi_identifiers, threshold=0.2, at_most=0, nulls='value',
  mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set threshold = reid_sql.risk('threshold', threshold) %}
{%- set at_most = reid_sql.share('at_most', at_most) %}
{%- set request = reid_sql.request(model, quasi_identifiers, nulls, mask_below, keep) %}
{%- if request.nulls == 'wildcard' %}
{{ reid_sql.by_functions(request, "nulls: 'wildcard'") }}
select {{ reid_sql.masked('round(records_at_risk * records)::bigint', request.mask) }} as failures
from risk_summary(reid_model, {{ reid_sql.names(request.qi) }}, threshold := {{ threshold }},
  nulls := 'wildcard')
where records_at_risk > {{ at_most }}
{%- else %}
{%- set at_risk = reid_sql.double(1) ~ ' / reid_size > ' ~ reid_sql.double(threshold) %}
with {{ reid_sql.classes_of(request) }},
reid_totals as ({{ reid_sql.share_of('reid_size', at_risk) }})
{{ reid_sql.offending(request, at_risk ~ ' and reid_share > ' ~ reid_sql.double(at_most),
  from='reid_classes cross join reid_totals') }}
{%- endif %}
{%- endif %}
{%- endtest %}
