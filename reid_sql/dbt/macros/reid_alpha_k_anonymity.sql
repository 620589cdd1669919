{# Fails where one sensitive value has a share above alpha in a class, or a class holds fewer than k records.
   Failures are the records of the classes that offend, or all where there is no answer. #}
{% test reid_alpha_k_anonymity(model, quasi_identifiers, sensitive, alpha=0.5, k=2, nulls='value',
  mask_below=10) %}
{{ config(fail_calc="coalesce(sum(failures), 0)") }}
{{ reid_sql.model_as_cte(model) }}
select case when variant is not null
  then {{ reid_sql.masked('coalesce(offending_records, records)', mask_below) }} end as failures
from alpha_k_anonymity(reid_model, {{ reid_sql.columns(quasi_identifiers) }}, {{ reid_sql.text(sensitive) }},
  alpha := {{ alpha }}, k := {{ k }}, nulls := {{ reid_sql.text(nulls) }})
where offending_records is distinct from 0 or k is null
{% endtest %}
