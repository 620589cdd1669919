{# The columns of a test's arguments, each with its own name and type as the database has them. #}
{% macro known_columns(relation, names, words) %}
{% if names is string or names is mapping or names is not iterable
  or names | select('string') | list | length < names | length %}
{% do reid_sql.refuse(words ~ ' must be a list of column names, got ' ~ names ~ "; write ['age', 'sex']") %}
{% endif %}
{% if not 1 <= names | length <= 64 %}
{% do reid_sql.refuse(words ~ ' must name 1 to 64 columns, got ' ~ names | length
  ~ "; pass the columns by which people can be distinguished, such as ['age', 'sex']") %}
{% endif %}
{% set there = reid_sql.columns_of(relation) %}
{% set found = [] %}
{% for name in names %}
{% set column = reid_sql.column_named(name, there, words) %}
{% if column in found %}
{% do reid_sql.refuse(words ~ " must be distinct, got '" ~ name ~ "' twice; name each column once") %}
{% endif %}
{% do found.append(column) %}
{% endfor %}
{% do return(found) %}
{% endmacro %}

{# Of this very name, or the only one that differs from it by case alone: names are seldom quoted in YAML. #}
{% macro column_named(name, columns, words) %}
{% set found = namespace(exact=[], alike=[], names=[]) %}
{% for column in columns %}
{% do found.names.append(column.name) %}
{% if column.name == name %}{% do found.exact.append(column) %}{% endif %}
{% if column.name | lower == name | lower %}{% do found.alike.append(column) %}{% endif %}
{% endfor %}
{% if not found.exact and found.alike | length != 1 %}
{% do reid_sql.refuse(words ~ " must be columns of the table, got '" ~ name ~ "'; "
  ~ reid_sql.suggestion(name, found.names, 'columns')) %}
{% endif %}
{% do return((found.exact or found.alike)[0]) %}
{% endmacro %}

{# Name and type of each column of a relation, or of the query that dbt puts in its place under `where`. #}
{% macro columns_of(relation) %}
{% if '__dbt__cte__' in relation | string %}
{% do reid_sql.refuse('the model must be a table or a view, got an ephemeral one; '
  ~ 'materialize it as a view') %}
{% endif %}
{% set found = adapter.dispatch('columns_of', 'reid_sql')(relation) %}
{% if not found %}
{% do reid_sql.refuse('the model must be there with its columns, got none of ' ~ relation
  ~ '; build it first: dbt run') %}
{% endif %}
{% do return(found) %}
{% endmacro %}

{% macro default__columns_of(relation) %}
{% set stored_relation = reid_sql.stored(relation) %}
{% set there = adapter.get_relation(
  stored_relation.database, stored_relation.schema, stored_relation.identifier) %}
{% set found = [] %}
{% for column in adapter.get_columns_in_relation(there) if there is not none %}
{% do found.append({'name': column.name, 'type': column.dtype | lower}) %}
{% endfor %}
{% do return(found) %}
{% endmacro %}

{% macro duckdb__columns_of(relation) %}
{% do return(reid_sql.columns_in('describe select * from ' ~ relation)) %}
{% endmacro %}

{# The catalogue, as the information schema has no materialized views, and no names of types of one's own. #}
{% macro postgres__columns_of(relation) %}
{% set stored_relation = reid_sql.stored(relation) %}
{% set name = stored_relation.include(database=false) | string | replace("'", "''") %}
{% do return(reid_sql.columns_in("select attname, format_type(atttypid, null) from pg_attribute "
  ~ "where attrelid = to_regclass('" ~ name ~ "') and attnum > 0 and not attisdropped order by attnum")) %}
{% endmacro %}

{% macro redshift__columns_of(relation) %}
{% do return(reid_sql.default__columns_of(relation)) %}
{% endmacro %}

{% macro columns_in(query) %}
{% set found = [] %}
{% for row in run_query(query).rows %}
{% do found.append({'name': row[0], 'type': row[1] | lower}) %}
{% endfor %}
{% do return(found) %}
{% endmacro %}

{# The relation itself; of a query that dbt made of it for `where`, the one that the query names first. #}
{% macro stored(relation) %}
{% if relation is not string %}{% do return(relation) %}{% endif %}
{% set found = namespace(place=relation | length, relation=none) %}
{% for id in model.depends_on.nodes %}
{% set node = graph.nodes.get(id) or graph.sources.get(id) %}
{% set place = relation.find(node.relation_name | string) %}
{% if 0 <= place < found.place %}
{% set found.place = place %}
{% set found.relation = api.Relation.create(
  database=node.database, schema=node.schema, identifier=node.identifier or node.alias) %}
{% endif %}
{% endfor %}
{% if found.relation is none %}
{% do reid_sql.refuse('the model must be a table or a view that dbt knows, got ' ~ relation
  ~ '; make it a model or a source') %}
{% endif %}
{% do return(found.relation) %}
{% endmacro %}
