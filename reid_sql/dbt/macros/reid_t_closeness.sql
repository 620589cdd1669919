{# Fails where a class is further than t from the table's mix of sensitive values.
   Failures are the records of the classes that offend. #}
{% test reid_t_closeness(model, quasi_identifiers, sensitive, t=0.2, variant='equal', nulls='value',
  mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set t = reid_sql.number('t', t, 'a distance from 0 to 1',
  'pass how far a class may be from the table, such as 0.2', 0, 1) %}
{%- set variant = reid_sql.choice('variant', variant, ['equal', 'ordered', 'numeric']) %}
{%- set request = reid_sql.request_of_values(model, quasi_identifiers, sensitive, nulls, mask_below, keep) %}
{%- if variant != 'equal' %}
{{ reid_sql.by_functions(request, "variant: '" ~ variant ~ "'") }}
select case when variant is not null
  then {{ reid_sql.masked('coalesce(offending_records, records)', request.mask) }} end as failures
from t_closeness(reid_model, {{ reid_sql.names(request.qi) }}, {{ reid_sql.text(request.sensitive.name) }},
  t := {{ t }}, variant := '{{ variant }}', nulls := '{{ request.nulls }}')
where offending_records is distinct from 0
{%- else %}
with {{ reid_sql.cells_of(request) }},
reid_beside as (
  select reid_cells.*, sum(reid_n) over (partition by reid_s) as reid_held,
    sum(reid_n) over (partition by {{ request.places | join(', ') }}) as reid_all
  from reid_cells
),
reid_total as (select {{ reid_sql.double(reid_sql.total('reid_n')) }} as reid_records from reid_cells),
reid_further as (
  select reid_beside.*, {{ reid_sql.double('reid_n') }} / {{ reid_sql.double('reid_all') }}
    - {{ reid_sql.double('reid_held') }} / reid_records as reid_more
  from reid_beside cross join reid_total
),
{{ reid_sql.measured(request, 'sum(case when reid_more > 0 then reid_more else 0 end)', 'reid_further') }}
{{ reid_sql.offending(request, 'reid_value > ' ~ reid_sql.double(t * (1 + reid_sql.slack())), value=true) }}
{%- endif %}
{%- endif %}
{%- endtest %}
