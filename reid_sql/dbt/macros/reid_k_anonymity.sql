{# Fails where a record shares its quasi-identifiers with fewer than k records, itself among them.
   Failures are such records. #}
{% test reid_k_anonymity(model, quasi_identifiers, k=5, nulls='value', mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set k = reid_sql.least_records('k', k) %}
{%- set request = reid_sql.request(model, quasi_identifiers, nulls, mask_below, keep) %}
{%- if request.nulls == 'wildcard' %}
{{ reid_sql.by_functions(request, "nulls: 'wildcard'") }}
select {{ reid_sql.masked('round(records_at_risk * records)::bigint', request.mask) }} as failures
from risk_summary(reid_model, {{ reid_sql.names(request.qi) }}, threshold := 1 / {{ k }}, nulls := 'wildcard')
where k < {{ k }}
{%- else %}
with {{ reid_sql.classes_of(request) }}
{{ reid_sql.offending(request, 'reid_size < ' ~ k) }}
{%- endif %}
{%- endif %}
{%- endtest %}
