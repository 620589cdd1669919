{# What a test examines: the relation, the columns of its classes as the database names them, the sensitive
   column if any, and what of the offending records to store. All names within a query begin with reid_, so
   that they differ from those of the table. #}
{% macro request(relation, quasi_identifiers, nulls, mask_below, keep='counts', sensitive=none, own=[]) -%}
{%- set words = 'quasi-identifiers' ~ (' and sensitive' if sensitive is not none) %}
{%- set sensitives = [] if sensitive is none else [sensitive] %}
{%- if sensitives and sensitive is not string %}
{%- do reid_sql.refuse('sensitive must be the name of a column, got ' ~ sensitive ~ "; write 'diagnosis'") %}
{%- endif %}
{%- set listed = [quasi_identifiers] if quasi_identifiers is string else quasi_identifiers %}
{%- set all_names = listed | list + sensitives if listed is iterable else listed %}
{%- set every = reid_sql.known_columns(relation, all_names, words) %}
{%- set qi = every[: every | length - sensitives | length] %}
{%- set keep = reid_sql.choice('keep', keep, ['classes', 'records', 'counts']) %}
{%- set found = {
  'relation': relation, 'every': every, 'qi': qi, 'sensitive': every[-1] if sensitives else none,
  'nulls': reid_sql.choice('nulls', nulls, ['value', 'wildcard', 'drop']),
  'mask': reid_sql.mask(mask_below), 'keep': keep,
  'listed': reid_sql.columns_of(relation) if keep == 'records' else qi if keep == 'classes' else [],
} %}
{%- do found.update({'places': ['reid_class'] if keep == 'records' else reid_sql.places(qi)}) %}
{%- for column in found.listed if column.name | lower in ['failures', 'class_size'] + own %}
{%- do reid_sql.refuse("a column must not be named as the test's own where " ~ keep ~ " are kept, got '"
  ~ column.name ~ "'; rename it in a view, or pass keep: counts") %}
{%- endfor %}
{%- do reid_sql.refuse_nobody(found) %}
{%- do reid_sql.warn_of_rows(found) %}
{%- do return(found) %}
{%- endmacro %}

{% macro places(columns) -%}
{%- set found = [] %}
{%- for _ in columns %}{% do found.append('reid_q' ~ loop.index) %}{% endfor %}
{%- do return(found) %}
{%- endmacro %}

{# A table without records has no risk to judge: an error, never a pass. #}
{% macro refuse_nobody(request) -%}
{%- if reid_sql.is_run() and request.nulls != 'wildcard' %}
{%- set found = run_query('select ' ~ reid_sql.count() ~ ' as reid_records from ' ~ request.relation
  ~ reid_sql.where_not_null(request)) %}
{%- if found.rows[0][0] | int == 0 %}
{%- do reid_sql.refuse('the table must contain at least one record, got 0 '
  ~ "(those that nulls := 'drop' leaves out do not count); "
  ~ 'pass a table with records, not ' ~ request.relation) %}
{%- endif %}
{%- endif %}
{%- endmacro %}

{# Whether the test is to be run, not only shown: what only compiles may be of tables that are not filled. #}
{% macro is_run() %}{% do return(flags.WHICH not in ['compile', 'generate', 'parse', 'list']) %}{% endmacro %}

{% macro where_not_null(request) -%}
{%- if request.nulls == 'drop' %}
 where {% for column in request.every %}{{ reid_sql.quoted(column.name) }} is not null
  {{- ' and ' if not loop.last }}{% endfor %}
{%- endif -%}
{%- endmacro %}

{# Whether there is something to write: what only compiles may be of tables that are not built yet, too. #}
{% macro is_there(relations) -%}
{%- if not execute or reid_sql.is_run() %}{% do return(execute) %}{% endif %}
{%- for relation in relations %}
{%- set stored = reid_sql.stored(relation) %}
{%- if adapter.get_relation(stored.database, stored.schema, stored.identifier) is none %}
{%- do return(false) %}
{%- endif %}
{%- endfor %}
{%- do return(true) %}
{%- endmacro %}
