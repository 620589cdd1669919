{# The queries that tests are made of, as CTEs: rows, cells of a class and a sensitive value, classes. #}
{% macro rows_of(request) -%}
reid_rows as (
  {%- if request.keep == 'records' %}
  select reid_aliased.*, dense_rank() over (order by {{ reid_sql.places(request.qi)
    | join(', ') }}) as reid_class
  from ({{ reid_sql.aliased_rows(request) }}) reid_aliased
  {%- else %}
  {{ reid_sql.aliased_rows(request) }}
  {%- endif %}
)
{%- endmacro %}

{% macro aliased_rows(request) -%}
select
  {%- for column in request.qi %}
  {{ reid_sql.alike(column) }} as reid_q{{ loop.index }}{{ ',' if not loop.last }}
  {%- endfor %}
  {%- if request.sensitive %}, {{ reid_sql.alike(request.sensitive) }} as reid_s{% endif %}
  {%- if request.keep == 'records' %}
  {%- for column in request.listed %}, {{ reid_sql.quoted(column.name) }} as reid_o{{
    loop.index }}{% endfor %}
  {%- endif %}
from {{ request.relation }}
{{ reid_sql.where_not_null(request) }}
{%- endmacro %}

{% macro classes_of(request) -%}
{{ reid_sql.rows_of(request) }},
reid_classes as (
  select {{ request.places | join(', ') }}, {{ reid_sql.count() }} as reid_size
  from reid_rows
  group by {{ request.places | join(', ') }}
)
{%- endmacro %}

{% macro cells_of(request) -%}
{{ reid_sql.rows_of(request) }},
reid_cells as (
  select {{ request.places | join(', ') }}, reid_s, {{ reid_sql.count() }} as reid_n
  from reid_rows
  group by {{ request.places | join(', ') }}, reid_s
)
{%- endmacro %}

{# What a test gives: the classes that offend, or their records, or how many; `failures` are records. #}
{% macro offending(request, condition, from='reid_classes', records='reid_size', value=false) -%}
{%- if request.keep == 'counts' %}
select {{ reid_sql.masked(reid_sql.total(records), request.mask) }} as failures
from {{ from }}
where {{ condition }}
having count(*) > 0
{%- elif request.keep == 'classes' %}
select {{ records }} as failures, reid_size as class_size
  {{- ', reid_value as value' if value }}
  {%- for column in request.qi %},
  {{ reid_sql.shown('reid_q' ~ loop.index, column) }} as {{ reid_sql.quoted(column.name) }}
  {%- endfor %}
from {{ from }}
where {{ condition }}
{%- else %}
select 1 as failures, reid_offending.reid_size as class_size
  {{- ', reid_offending.reid_value as value' if value }}
  {%- for column in request.listed %},
  reid_rows.reid_o{{ loop.index }} as {{ reid_sql.quoted(column.name) }}
  {%- endfor %}
from (
  select reid_class, reid_size{{ ', reid_value' if value }}
  from {{ from }}
  where {{ condition }}
) reid_offending
join reid_rows on reid_rows.reid_class = reid_offending.reid_class
{%- endif %}
{%- endmacro %}

{# A count of records; fewer than the mask are reported as the mask: how few there are can identify them. #}
{% macro masked(count, below) -%}
case when {{ count }} between 1 and {{ below - 1 }} then {{ below }} else {{ count }} end
{%- endmacro %}

{# What dbt reports of a test: records, masked; 0 where nothing offends. #}
{% macro failures(mask_below) -%}
coalesce({{ reid_sql.masked('sum(failures)', mask_below | string | int(1)) }}, 0)
{%- endmacro %}
