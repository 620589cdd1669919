{# Fails where more than the share at_most of the records is alone with its quasi-identifiers.
   Failures are such records. #}
{% test reid_uniqueness(model, quasi_identifiers, at_most=0, nulls='value', mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set at_most = reid_sql.share('at_most', at_most) %}
{%- set request = reid_sql.request(model, quasi_identifiers, nulls, mask_below, keep) %}
{%- if request.nulls == 'wildcard' %}
{{ reid_sql.by_functions(request, "nulls: 'wildcard'") }}
select {{ reid_sql.masked('unique_records', request.mask) }} as failures
from risk_summary(reid_model, {{ reid_sql.names(request.qi) }}, nulls := 'wildcard')
where uniqueness > {{ at_most }}
{%- else %}
with {{ reid_sql.classes_of(request) }},
reid_totals as ({{ reid_sql.share_of('reid_size', 'reid_size = 1') }})
{{ reid_sql.offending(request, 'reid_size = 1 and reid_share > ' ~ reid_sql.double(at_most),
  from='reid_classes cross join reid_totals') }}
{%- endif %}
{%- endif %}
{%- endtest %}
