-- How DuckDB says an original beside its release.

MACRO reid_key_apart(columns, key) AS
CASE WHEN key IS NULL THEN columns
WHEN list_contains(reid_folded(columns), reid_fold(key))
THEN error('key must not be a quasi-identifier, got ''' || key
  || '''; it tells which record is whose, which no attacker knows: leave it out of one of them')
ELSE list_append(columns, key) END;

-- True where the key has the same type in both tables, else the refusal: a cast would make one key of
-- several.
MACRO reid_same_key(type, other) AS
CASE WHEN reid_kind(type) = reid_kind(other) AND reid_has_digits(type, other) THEN true
ELSE error('key must have the same type in both tables, got ' || type || ' and ' || other
  || '; cast one of the columns in a view')::BOOLEAN END;

-- The records of one table and the distinct values of each of its columns, numbered from 1, with their texts.
PLAN reid_side(source, columns, key, side) AS
{{ side }} AS MATERIALIZED (
  SELECT * FROM {{ reid_rows(source, CASE WHEN key IS NULL THEN columns ELSE list_append(columns, key) END,
    'value') }}
),
{% for c, i in columns %}
{{ side }}_{{ i }} AS MATERIALIZED (
  SELECT v, row_number() OVER () AS code FROM (SELECT DISTINCT q{{ i }} AS v FROM {{ side }})
  WHERE v IS NOT NULL
),
{% endfor %}
{{ side }}_coded AS (
  SELECT [{% for c, i in columns join ', ' %}coalesce(c{{ i }}.code, 0)::INTEGER{% endfor %}] AS codes,
    {% if key IS NULL %}NULL{% else %}q{{ len(columns) + 1 }}{% endif %} AS key
  FROM {{ side }}
  {% for c, i in columns %}LEFT JOIN {{ side }}_{{ i }} AS c{{ i }} ON q{{ i }} = c{{ i }}.v {% endfor %}
)
;

PLAN reid_texts_of(columns, side) AS
[{% for c, i in columns join ', ' %}
  (SELECT coalesce(list(v::VARCHAR ORDER BY code ASC), []::VARCHAR[]) FROM {{ side }}_{{ i }})
{% endfor %}]
;

PLAN reid_one_key(side) AS
SELECT reid_is_key(count(*), count(key), count(DISTINCT key),
  CASE WHEN count(*) - count(key) < 2 THEN mode(key) END) AS is_one, any_value(typeof(key)) AS kind
FROM {{ side }}_coded
;

PLAN reid_plan_paired_records(original, released, columns, key) AS
{% call reid_guarded_both(CASE WHEN key IS NULL THEN 'quasi-identifiers' ELSE 'quasi-identifiers and key' END,
  original, released, reid_key_apart(columns, key)) %}
{% call reid_treated(original, columns, 'value') %}
WITH {{ reid_side(original, columns, key, 'reid_own') }},
{{ reid_side(released, columns, key, 'reid_out') }},
reid_pairs AS (
  SELECT own, out, count(*) AS records
  FROM (
  {% if key IS NULL %}
    SELECT codes AS own, NULL::INTEGER[] AS out FROM reid_own_coded
    UNION ALL SELECT NULL, codes FROM reid_out_coded
  {% else %}
    SELECT o.codes AS own, r.codes AS out
    FROM reid_own_coded AS o FULL JOIN reid_out_coded AS r ON o.key IS NOT DISTINCT FROM r.key
  {% endif %}
  )
  GROUP BY own, out
)
SELECT {{ reid_texts(columns) }} AS names, [{% if key IS NULL %}false{% else %}true{% endif %}] AS keyed,
  [{% for c, i in columns join ', ' %}list(coalesce(own[{{ i }}], -1)){% endfor %}] AS original_codes,
  [{% for c, i in columns join ', ' %}list(coalesce(out[{{ i }}], -1)){% endfor %}] AS released_codes,
  coalesce(list(records), []::BIGINT[]) AS records,
  {{ reid_texts_of(columns, 'reid_own') }} AS original_values,
  {{ reid_texts_of(columns, 'reid_out') }} AS released_values
FROM reid_pairs
{% if key IS NOT NULL %}
, (
  SELECT o.is_one AND r.is_one AND coalesce(reid_same_key(o.kind, r.kind), true) AS is_right
  FROM ({{ reid_one_key('reid_own') }}) AS o, ({{ reid_one_key('reid_out') }}) AS r
)
WHERE is_right
{% endif %}
{% endcall %}
{% endcall %}
;
