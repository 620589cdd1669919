{# Fails where the mean risk of the records, classes/records, is above at_most: the share that somebody who
   links everybody gets right. Failures are the records that are so got right. #}
{% test reid_average_risk(model, quasi_identifiers, at_most=0.2, nulls='value', mask_below=10) -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set at_most = reid_sql.share('at_most', at_most) %}
{%- set request = reid_sql.request(model, quasi_identifiers, nulls, mask_below) %}
{%- if request.nulls == 'wildcard' %}
{{ reid_sql.by_functions(request, "nulls: 'wildcard'") }}
select {{ reid_sql.masked('round(average_risk * records)::bigint', request.mask) }} as failures
from risk_summary(reid_model, {{ reid_sql.names(request.qi) }}, nulls := 'wildcard')
where average_risk > {{ at_most }}
{%- else %}
with {{ reid_sql.classes_of(request) }}
select {{ reid_sql.masked(reid_sql.count(), request.mask) }} as failures
from reid_classes
having {{ reid_sql.double(reid_sql.count()) }} / {{ reid_sql.double(reid_sql.total('reid_size')) }}
  > {{ reid_sql.double(at_most) }}
{%- endif %}
{%- endif %}
{%- endtest %}
