{# Fails where more than the share at_most of the records has a risk above the threshold.
   Failures are the records at risk. #}
{% test reid_records_at_risk(model, quasi_identifiers, threshold=0.2, at_most=0, nulls='value',
  mask_below=10) %}
{{ config(fail_calc="coalesce(sum(failures), 0)") }}
{{ reid_sql.model_as_cte(model) }}
select {{ reid_sql.masked('round(records_at_risk * records)::bigint', mask_below) }} as failures,
  records, nulls
from risk_summary(reid_model, {{ reid_sql.columns(quasi_identifiers) }}, threshold := {{ threshold }},
  nulls := {{ reid_sql.text(nulls) }})
where records_at_risk > {{ at_most }} or k is null
{% endtest %}
