{# Fails where one sensitive value has a share above alpha in a class, or a class holds fewer than k records.
   Failures are the records of the classes that offend. #}
{% test reid_alpha_k_anonymity(model, quasi_identifiers, sensitive, alpha=0.5, k=2, nulls='value',
  mask_below=10, keep='classes') -%}
{{ config(fail_calc=reid_sql.failures(mask_below)) }}
{%- if reid_sql.is_there([model]) %}
{%- set alpha = reid_sql.share('alpha', alpha) %}
{%- set k = reid_sql.least_records('k', k) %}
{%- set request = reid_sql.request_of_values(model, quasi_identifiers, sensitive, nulls, mask_below, keep) %}
{%- set most = reid_sql.double('max(reid_n)') ~ ' / ' ~ reid_sql.double(reid_sql.total('reid_n')) %}
with {{ reid_sql.cells_of(request) }},
{{ reid_sql.measured(request, most) }}
{{ reid_sql.offending(request, '(reid_value > ' ~ reid_sql.double(alpha * (1 + reid_sql.slack()))
  ~ ' or reid_size < ' ~ k ~ ')', value=true) }}
{%- endif %}
{%- endtest %}
