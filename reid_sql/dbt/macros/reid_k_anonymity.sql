{# Fails where a record shares its quasi-identifiers with fewer than k records, itself among them.
   Failures are such records. #}
{% test reid_k_anonymity(model, quasi_identifiers, k=5, nulls='value', mask_below=10) %}
{{ config(fail_calc="coalesce(sum(failures), 0)") }}
{{ reid_sql.model_as_cte(model) }}
select {{ reid_sql.masked('round(records_at_risk * records)::bigint', mask_below) }} as failures,
  records, nulls
from risk_summary(reid_model, {{ reid_sql.columns(quasi_identifiers) }}, threshold := 1 / {{ k }},
  nulls := {{ reid_sql.text(nulls) }})
where k < {{ k }} or k is null
{% endtest %}
