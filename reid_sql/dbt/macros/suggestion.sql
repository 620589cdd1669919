{# Words that point from a misspelt name to the nearest known one, or else list what there is. #}
{% macro suggestion(name, known, kind) %}
{% set found = namespace(name=none, distance=1 + name | length // 3 if name | length > 3 else 1) %}
{% for each in known %}
{% set distance = reid_sql.distance(name | lower, each | lower) %}
{% if distance <= [name | length, each | length] | max - 1
  and (distance < found.distance or (found.name is none and distance == found.distance)) %}
{% set found.name = each %}
{% set found.distance = distance %}
{% endif %}
{% endfor %}
{% if not known %}{% do return('there are no ' ~ kind) %}{% endif %}
{% if found.name is not none %}{% do return("did you mean '" ~ found.name ~ "'?") %}{% endif %}
{% do return('the ' ~ kind ~ ' are ' ~ known[:12] | join(', ') ~ (', …' if known | length > 12 else '')) %}
{% endmacro %}

{# How many letters must be put in, left out, changed or swapped with their neighbour (Damerau 1964). #}
{% macro distance(one, other) %}
{% set rows = [range(other | length + 1) | list] %}
{% for i in range(1, one | length + 1) %}
{% set row = [i] %}
{% for j in range(1, other | length + 1) %}
{% set least = [rows[i - 1][j] + 1, row[j - 1] + 1,
  rows[i - 1][j - 1] + (0 if one[i - 1] == other[j - 1] else 1)] %}
{% if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1] %}
{% do least.append(rows[i - 2][j - 2] + 1) %}
{% endif %}
{% do row.append(least | min) %}
{% endfor %}
{% do rows.append(row) %}
{% endfor %}
{% do return(rows[-1][-1]) %}
{% endmacro %}
