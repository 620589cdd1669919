{# The share of all records that those of a condition are; `records` are those of a class. #}
{% macro share_of(records, condition) -%}
  select {{ reid_sql.double(reid_sql.total('case when ' ~ condition ~ ' then ' ~ records ~ ' else 0 end')) }}
    / {{ reid_sql.double(reid_sql.total(records)) }} as reid_share
  from reid_classes
{%- endmacro %}
