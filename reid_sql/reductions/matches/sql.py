"""People who have all the items that an attacker knows of one of them, counted in SQL."""

from reid_sql.parameters import PERSON_OR_ITEM, Columns, fold_case
from reid_sql.reductions.matches import PRIME
from reid_sql.sql.records import with_null_report
from reid_sql.sql.source import Source


def matches(
    tbl: Source,
    person: str,
    item: str,
    points: int,
    exact_up_to: int,
    samples: int,
    seed: int,
    nulls: str,
) -> str:
    """Count the people who have what an attacker knows of a target, with the weight of such targets."""
    columns, folded = [person, item], [fold_case(person), fold_case(item)]
    label = PERSON_OR_ITEM.words
    Columns(label).check(folded, folded)
    body = f"""
        {_sets(tbl.rows(columns, drop_nulls=nulls == "drop"), points, exact_up_to)},
        reid_knowledge AS MATERIALIZED (
          SELECT row_number() OVER () AS id, known, weight
          FROM (
            SELECT known, sum(weight) AS weight
            FROM ({_combinations(points)} UNION ALL {_draws(points, samples, seed)})
            GROUP BY known
          )
        ),
        reid_matched AS ({_match(points)})
        SELECT matches, sum(weight) AS weight, people,
          CASE WHEN exact THEN 0 ELSE {samples} END::BIGINT AS draws
        FROM reid_matched, reid_total
        GROUP BY ALL"""
    return tbl.check_columns(label, columns, with_null_report(tbl, columns, nulls, body))


def _sets(rows: str, points: int, exact_up_to: int) -> str:
    """Begin the WITH clause: each person's items, rarest first, and whether all combinations are few enough.

    People and items are numbered by their order. Each person has as many combinations as there are choices of
    so many points, or one where they have fewer.
    """
    choices = _choose("size", f"least({points}, size)")
    return f"""WITH reid_coded AS MATERIALIZED (
          SELECT dense_rank() OVER (ORDER BY q1 ASC NULLS LAST) AS p,
            dense_rank() OVER (ORDER BY q2 ASC NULLS LAST) AS i
          FROM (SELECT DISTINCT q1, q2 FROM {rows})
        ),
        reid_sets AS MATERIALIZED (
          SELECT p, i, count(*) OVER (PARTITION BY p) AS size,
            row_number() OVER (PARTITION BY p ORDER BY support ASC, i ASC) AS place
          FROM reid_coded JOIN (SELECT i, count(*) AS support FROM reid_coded GROUP BY i) USING (i)
        ),
        reid_total AS MATERIALIZED (
          SELECT count(*) AS people, sum({choices}) <= {exact_up_to} AS exact
          FROM reid_sets WHERE place = 1
        )"""


def _combinations(points: int) -> str:
    """Select every combination of points of every person, or all that a person has; each person weighs 1."""
    items = ", ".join(f"s{place}.i" for place in range(1, points + 1))
    joins = " ".join(
        f"JOIN reid_sets s{place} ON s{place}.p = s1.p AND s{place}.place > s{place - 1}.place"
        for place in range(2, points + 1)
    )
    return f"""
              SELECT list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
              FROM reid_sets, reid_total WHERE exact AND size <= {points} GROUP BY p
              UNION ALL
              SELECT [{items}], 1 / {_choose("s1.size", str(points))}
              FROM (SELECT reid_sets.* FROM reid_sets, reid_total WHERE exact AND size > {points}) s1
              {joins}"""


def _draws(points: int, samples: int, seed: int) -> str:
    """Draw targets in rounds, each person once a round, and the items that are known of them."""
    return f"""
              SELECT list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
              FROM (
                SELECT p, turn, i, place, row_number() OVER (
                  PARTITION BY p, turn ORDER BY {_scramble(seed, "turn + 1", "p", "i")} ASC, i ASC
                ) AS rank
                FROM reid_sets JOIN (
                  SELECT p, unnest(range(({samples} + people - 1) // people)) AS turn
                  FROM reid_sets, reid_total
                  WHERE NOT exact AND place = 1
                  ORDER BY turn ASC, {_scramble(seed, 0, "p")} ASC, p ASC LIMIT {samples}
                ) USING (p)
              )
              WHERE rank <= {points} GROUP BY p, turn"""


def _match(points: int) -> str:
    """Count the people who have all items of each combination; one of fewer items repeats its last."""
    joins = " ".join(
        f"JOIN reid_coded c{place} ON c{place}.p = c1.p AND c{place}.i = known[least({place}, len(known))]"
        for place in range(2, points + 1)
    )
    return f"""
          SELECT id, any_value(weight) AS weight, count(*) AS matches
          FROM reid_knowledge JOIN reid_coded c1 ON c1.i = known[1] {joins}
          GROUP BY id"""


def _choose(n: str, k: str) -> str:
    """Count the choices of k of n things: the product of (n - i + 1) / i over i = 1 … k."""
    return f"""list_reduce(list_prepend(1::DOUBLE, range(1, {k} + 1)::DOUBLE[]),
            lambda reid_product, reid_i: reid_product * ({n} - reid_i + 1) / reid_i)"""


def _scramble(*numbers: str | int) -> str:
    """Scramble whole numbers below 2^31 - 1, one after the other: the same on every engine.

    No product leaves 63 bits.
    """
    first = f"(reid_x * 48271 + reid_y * 69621 + 11) % {PRIME}"
    scrambled = _square(_square(f"({first})", 16807, 7), 48271, 3)
    return f"""list_reduce([{", ".join(map(str, numbers))}]::BIGINT[],
                    lambda reid_x, reid_y: {scrambled})"""


def _square(z: str, a: int, b: int) -> str:
    return f"(({z} * {z} + {z} * {a} + {b}) % {PRIME})"
