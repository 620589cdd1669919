-- class_size
SELECT
  "t2".*
  EXCEPT ("reid_one")
FROM (
  SELECT
    "t1"."person" AS "person",
    "t1"."age" AS "age",
    "t1"."name" AS "name",
    "t1"."height" AS "height",
    "t1"."disease" AS "disease",
    "t1"."select" AS "select",
    "t1"."reid_one" AS "reid_one",
    COUNT("t1"."reid_one") OVER (
      PARTITION BY "t1"."age", "t1"."name", CASE
        WHEN isNaN("t1"."height")
        THEN nan
        WHEN ABS("t1"."height") = 0
        THEN 0.0
        ELSE "t1"."height"
      END, "t1"."select"
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS "k"
  FROM (
    SELECT
      "t0"."person" AS "person",
      "t0"."age" AS "age",
      "t0"."name" AS "name",
      "t0"."height" AS "height",
      "t0"."disease" AS "disease",
      "t0"."select" AS "select",
      1 AS "reid_one"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
;
