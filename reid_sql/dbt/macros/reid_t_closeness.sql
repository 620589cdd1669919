{# Fails where a class is further than t from the table's mix of sensitive values.
   Failures are the records of the classes that offend, or all where there is no answer. #}
{% test reid_t_closeness(model, quasi_identifiers, sensitive, t=0.2, variant='equal', nulls='value',
  mask_below=10) %}
{{ config(fail_calc="coalesce(sum(failures), 0)") }}
{{ reid_sql.model_as_cte(model) }}
select case when variant is not null
  then {{ reid_sql.masked('coalesce(offending_records, records)', mask_below) }} end as failures
from t_closeness(reid_model, {{ reid_sql.columns(quasi_identifiers) }}, {{ reid_sql.text(sensitive) }},
  t := {{ t }}, variant := {{ reid_sql.text(variant) }}, nulls := {{ reid_sql.text(nulls) }})
where offending_records is distinct from 0 or k is null
{% endtest %}
