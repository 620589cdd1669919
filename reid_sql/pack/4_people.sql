-- Households: a member has the risk 1 / class_size, a household that of at least one member. Its class is of
-- the households whose members have the same values, here a sorted list of the numbers of these.
CREATE OR REPLACE MACRO reid_households(tbl, household, columns, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT class_size, members, risk, member_risk,
      system.main.sum(class_size)::BIGINT AS households
    FROM (SELECT system.main.count(*) AS class_size, system.main.any_value(members) AS members,
        system.main.any_value(risk) AS risk, system.main.any_value(member_risk) AS member_risk
      FROM (SELECT system.main.list(class ORDER BY class ASC) AS classes, system.main.count(*) AS members,
          1 - system.main.product(1 - 1::DOUBLE / size ORDER BY size ASC) AS risk,
          system.main.sum(1::DOUBLE / size ORDER BY size ASC) AS member_risk
        FROM (SELECT * REPLACE (reid_known_value(q1) AS q1),
            CASE WHEN reid_known_value(q1) IS NULL THEN system.main.row_number() OVER () END AS alone,
            system.main.dense_rank() OVER (ORDER BY '
              || array_to_string(list_transform(reid_aliases(len(columns) + 1)[2:],
                lambda q: q || ' ASC NULLS LAST'), ', ') || ') AS class,
            system.main.count(*) OVER (PARTITION BY '
              || array_to_string(reid_aliases(len(columns) + 1)[2:], ', ') || ') AS size
          FROM ' || reid_rows(tbl, list_prepend(household, columns), 'value') || ' WHERE '
          || reid_complete(reid_aliases(len(columns) + 1)[2:], nulls) || ')
        GROUP BY q1, alone)
      GROUP BY classes)
    GROUP BY class_size, members, risk, member_risk');
CREATE OR REPLACE MACRO household_risk(tbl, household, columns, threshold := 0.2, nulls := 'value') AS TABLE
  FROM (
    SELECT reid_some(sum(h.households)::BIGINT) AS households,
      sum(h.households * h.members)::BIGINT AS records,
      fsum(h.households * h.members * h.risk) / sum(h.households * h.members) AS average_risk,
      fsum(h.households * h.risk) / sum(h.households) AS average_household_risk,
      max(h.risk) AS highest_risk,
      coalesce(sum(h.households) FILTER (h.risk > threshold), 0)::DOUBLE / sum(h.households)
        AS households_at_risk,
      fsum(h.households * h.member_risk) / sum(h.households * h.members) AS average_member_risk,
      min(h.class_size) AS k,
      coalesce(sum(h.households) FILTER (h.class_size = 1), 0)::BIGINT AS unique_households,
      coalesce(sum(h.households) FILTER (h.class_size = 1), 0)::DOUBLE / sum(h.households) AS uniqueness,
      fsum(h.households::DOUBLE / h.class_size) / sum(h.households) AS average_class_risk,
      max(reid_number('threshold', threshold, 0, 1, false)) AS threshold,
      max(h.records_dropped) AS records_dropped, max(h.nulls) AS nulls
    FROM query(reid_households(tbl, household, reid_names('household and columns', list_prepend(household,
      reid_names('columns', columns)))[2:], nulls)) AS h
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';

-- Individual risk: the mean of 1/F, where the F people of a class of f records are negative binomial with the
-- chance p = f / sum of weights (Benedetti and Franconi 1998). By Pfaff's transformation it is p/f times the
-- sum of (1 - p)^k / C(f + k, k), whose first 65 terms leave less than 2^-60 if p >= 1/2 or f >= 20. Else
-- I(1) = ln(1/p) p / (1 - p) and I(f + 1) = (1/f - I(f)) p / (1 - p), by which errors shrink.
CREATE OR REPLACE MACRO reid_inverse_count(f, p) AS CASE WHEN p >= 0.5 OR f >= 20
  THEN p / f * list_reduce(range(64, 0, -1), lambda s, k: 1 + s * (1 - p) * k / (f + k), 1::DOUBLE)
  ELSE list_reduce(range(1, least(f, 20)::BIGINT), lambda i, k: (1::DOUBLE / k - i) * p / (1 - p),
    reid_ln(1 / p) * p / (1 - p)) END;
CREATE OR REPLACE MACRO reid_weighted(tbl, columns, weight, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT system.main.count(*) AS class_size, system.main.sum(CASE
      WHEN weight > 0 THEN weight ELSE ''NaN''::DOUBLE END ORDER BY weight ASC) AS mass,
      system.main.list(record) AS members
    FROM (SELECT *, system.main.row_number() OVER () - 1 AS record, TRY_CAST('
      || CASE WHEN weight IS NULL THEN '1' ELSE 'q' || (len(columns) + 1) END || ' AS DOUBLE) AS weight FROM '
      || reid_rows(tbl, columns || CASE WHEN weight IS NULL THEN [] ELSE [(weight)::VARCHAR] END, 'value')
    || ') WHERE ' || reid_complete(reid_aliases(len(columns)), nulls)
    || ' GROUP BY ' || reid_keys(len(columns)));
CREATE OR REPLACE MACRO individual_risk(
  tbl, qi, weight := NULL, form := 'exact', nulls := 'value') AS TABLE
  WITH scored AS MATERIALIZED (
    SELECT *, CASE WHEN reid_choice('form', form, ['exact', 'approximate']) = 'approximate' AND class_size > 2
      THEN p / (class_size - (1 - p)) ELSE reid_inverse_count(class_size::DOUBLE, p) END AS risk
    FROM (SELECT *, least(class_size / mass, 1) AS p
      FROM query(reid_weighted(tbl, reid_names('quasi-identifiers', qi), weight, nulls)))
  ), total AS (
    SELECT reid_some(sum(class_size)::BIGINT) AS records, bool_and(p = 1) AS is_whole,
      sum(class_size) FILTER (mass < class_size * (1 - 1e-12)) AS light, CASE WHEN sum(mass) <= 1e15
        THEN fsum(class_size * risk) ELSE reid_refuse('weight must be a number above 0 for every record, and '
          || 'add up to at most 1e15', 'another', 'mend the column, or leave weight out')::DOUBLE END AS risk
    FROM scored
  )
  SELECT unnest(s.members) AS record, s.class_size, s.mass AS population_class_size, s.risk,
    NULL::DOUBLE AS household_risk, CASE WHEN t.is_whole THEN t.risk END AS expected_reidentifications,
    t.risk AS benedetti_franconi_sum, coalesce(nullif(concat_ws(chr(59) || ' ', 'light_weights: ' || t.light
      || ' records have too small weights and count as the whole of their class', CASE WHEN NOT t.is_whole
      THEN 'no_expected_number: plain SQL has no log-linear model, so nothing bounds the risk of lone records'
      END), ''), 'ok') AS status, s.records_dropped, s.nulls
  FROM total AS t LEFT JOIN scored AS s ON true WHERE t::VARCHAR <> '';

-- Unicity of one point: an attacker knows a random one of the different rows of a person.
CREATE OR REPLACE MACRO reid_points(tbl, columns, nulls) AS
  reid_with_nulls(tbl, columns[2:], nulls, 'SELECT matches, system.main.fsum(weight) AS weight
    FROM (SELECT 1::DOUBLE / system.main.count(*) OVER (PARTITION BY q1) AS weight,
        system.main.count(*) OVER (PARTITION BY ' || array_to_string(reid_aliases(len(columns))[2:], ', ')
    || ') AS matches FROM (SELECT DISTINCT * FROM ' || reid_rows(tbl, columns, 'value') || ' WHERE '
    || reid_require_person('entity', 'q1', reid_complete(reid_aliases(len(columns))[2:], nulls))
    || ')) GROUP BY matches');
CREATE OR REPLACE MACRO unicity(tbl, entity, columns, points := [1, 2, 3, 4], nulls := 'value') AS TABLE
  SELECT * FROM (
    SELECT max(reid_choice('points', replace((points)::VARCHAR, '[1]', '1'), ['1']))::BIGINT AS points,
      reid_some(round(max(m.people))::BIGINT) AS people,
      coalesce(fsum(m.weight) FILTER (m.matches = 1), 0) / max(m.people) AS uniqueness,
      uniqueness AS uniqueness_low, uniqueness AS uniqueness_high, 0::DOUBLE AS standard_error,
      fsum(m.weight / m.matches) / max(m.people) AS correctness, correctness AS correctness_low,
      correctness AS correctness_high, 0::DOUBLE AS correctness_standard_error,
      min(m.matches) FILTER (m.upto >= m.people / 2 * (1 - 1e-9)) AS median_matches,
      0::BIGINT AS people_with_fewer, 0::BIGINT AS draws, NULL::VARCHAR AS resolution,
      NULL::DOUBLE AS population_uniqueness, NULL::DOUBLE AS population_uniqueness_low,
      NULL::DOUBLE AS population_uniqueness_high, 'ok' AS status,
      max(m.records_dropped) AS records_dropped, max(m.nulls) AS nulls
    FROM (SELECT *, sum(weight) OVER () AS people, sum(weight) OVER (ORDER BY matches ASC) AS upto
      FROM query(reid_points(tbl, reid_names('entity and columns', list_prepend(entity,
        reid_names('columns', columns))), nulls))) AS m
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';
