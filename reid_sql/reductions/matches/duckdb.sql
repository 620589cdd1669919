-- How DuckDB says of how many people the sets hold what an attacker knows of a target.

-- A scramble of two whole numbers below 2^31 - 1, the same on every engine: no product leaves 63 bits.
MACRO reid_square(z, a, b) AS (z * z + z * a + b) % ${PRIME};

MACRO reid_mixed(x, y) AS
reid_square(reid_square((x::BIGINT * 48271 + y::BIGINT * 69621 + 11) % ${PRIME}, 16807, 7), 48271, 3);

-- Each person's set, items coded by their order and placed rarest first; whether all combinations of points
-- are few enough.
PLAN reid_sets_with(source, person, item, points, exact_up_to, nulls) AS
WITH reid_coded AS MATERIALIZED (
  SELECT dense_rank() OVER (ORDER BY q1 ASC NULLS LAST) AS p,
    dense_rank() OVER (ORDER BY q2 ASC NULLS LAST) AS i
  FROM (SELECT DISTINCT q1, q2 FROM {{ reid_rows(source, [person, item], nulls) }})
),
reid_sets AS MATERIALIZED (
  SELECT p, i, count(*) OVER (PARTITION BY p) AS size,
    row_number() OVER (PARTITION BY p ORDER BY support ASC, i ASC) AS place
  FROM reid_coded JOIN (SELECT i, count(*) AS support FROM reid_coded GROUP BY i) USING (i)
),
reid_total AS MATERIALIZED (
  SELECT count(*) AS people, sum(reid_choose(size, least({{ points }}, size))) <= {{ exact_up_to }} AS exact
  FROM reid_sets WHERE place = 1
)
;

-- Every combination of points of every person, or all that a person has; each person weighs 1.
PLAN reid_combinations(points) AS
SELECT list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
FROM reid_sets, reid_total WHERE exact AND size <= {{ points }} GROUP BY p
UNION ALL
SELECT [{% for k in range(1, points + 1) join ', ' %}s{{ k }}.i{% endfor %}],
  1 / reid_choose(s1.size, {{ points }})
FROM (SELECT reid_sets.* FROM reid_sets, reid_total WHERE exact AND size > {{ points }}) s1
{% for k in range(2, points + 1) %}
JOIN reid_sets s{{ k }} ON s{{ k }}.p = s1.p AND s{{ k }}.place > s{{ k - 1 }}.place
{% endfor %}
;

-- Targets drawn in rounds, each person once a round, and the items that are known of them.
PLAN reid_draws(points, samples, seed) AS
SELECT list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
FROM (
  SELECT p, turn, i, place, row_number() OVER (
    PARTITION BY p, turn
    ORDER BY reid_mixed(reid_mixed(reid_mixed({{ seed }}, turn + 1), p), i) ASC, i ASC) AS rank
  FROM reid_sets JOIN (
    SELECT p, unnest(range(({{ samples }} + people - 1) // people)) AS turn
    FROM reid_sets, reid_total WHERE NOT exact AND place = 1
    ORDER BY turn ASC, reid_mixed(reid_mixed({{ seed }}, 0), p) ASC, p ASC LIMIT {{ samples }}
  ) USING (p)
)
WHERE rank <= {{ points }} GROUP BY p, turn
;

PLAN reid_plan_matches(source, person, item, points, exact_up_to, samples, seed, nulls) AS
{% call reid_guarded('person and item', source, reid_listed('person and item', [person, item])) %}
{% call reid_treated(source, [person, item], nulls) %}
  {{ reid_sets_with(source, person, item, points, exact_up_to, nulls) }},
  reid_knowledge AS MATERIALIZED (
    SELECT row_number() OVER () AS id, known, weight
    FROM (
      SELECT known, sum(weight) AS weight
      FROM ({{ reid_combinations(points) }} UNION ALL {{ reid_draws(points, samples, seed) }})
      GROUP BY known
    )
  ),
  reid_matched AS (
    SELECT id, any_value(weight) AS weight, count(*) AS matches
    FROM reid_knowledge JOIN reid_coded c1 ON c1.i = known[1]
    {% for k in range(2, points + 1) %}
    JOIN reid_coded c{{ k }} ON c{{ k }}.p = c1.p AND c{{ k }}.i = known[least({{ k }}, len(known))]
    {% endfor %}
    GROUP BY id
  )
  SELECT matches, sum(weight) AS weight, people,
    CASE WHEN exact THEN 0 ELSE {{ samples }} END::BIGINT AS draws
  FROM reid_matched, reid_total
  GROUP BY ALL
{% endcall %}
{% endcall %}
;
