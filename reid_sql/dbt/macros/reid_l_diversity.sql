{# Fails where a class holds fewer than l values of the sensitive column.
   Failures are the records of the classes that offend, or all where there is no answer. #}
{% test reid_l_diversity(model, quasi_identifiers, sensitive, l=2, variant='distinct', c=3,
  nulls='value', mask_below=10) %}
{{ config(fail_calc="coalesce(sum(failures), 0)") }}
{{ reid_sql.model_as_cte(model) }}
select case when variant is not null
  then {{ reid_sql.masked('coalesce(offending_records, records)', mask_below) }} end as failures
from l_diversity(reid_model, {{ reid_sql.columns(quasi_identifiers) }}, {{ reid_sql.text(sensitive) }},
  l := {{ l }}, variant := {{ reid_sql.text(variant) }}, c := {{ c }},
  nulls := {{ reid_sql.text(nulls) }})
where offending_records is distinct from 0 or k is null
{% endtest %}
