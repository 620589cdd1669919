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

-- classes of people
SELECT
  "t9"."age" AS "age",
  "t9"."name" AS "name",
  "t9"."height" AS "height",
  "t9"."class_size" AS "class_size",
  "t9"."records" AS "records",
  "t9"."records_dropped" AS "records_dropped",
  'drop' AS "nulls"
FROM (
  SELECT
    "t8"."age" AS "age",
    "t8"."name" AS "name",
    "t8"."height" AS "height",
    "t8"."class_size" AS "class_size",
    "t8"."records" AS "records",
    "t4"."records_dropped" AS "records_dropped"
  FROM (
    SELECT
      "t6"."q1" AS "age",
      "t6"."q2" AS "name",
      "t6"."q3" AS "height",
      "t6"."class_size" AS "class_size",
      "t6"."records" AS "records"
    FROM (
      SELECT
        "t5"."q1" AS "q1",
        "t5"."q2" AS "q2",
        "t5"."q3" AS "q3",
        COUNT(*) AS "class_size",
        SUM("t5"."records") AS "records"
      FROM (
        SELECT
          "t2"."q1" AS "q1",
          "t2"."q2" AS "q2",
          "t2"."q3" AS "q3",
          "t2"."entity" AS "entity",
          COUNT(*) AS "records"
        FROM (
          SELECT
            "t0"."age" AS "q1",
            "t0"."name" AS "q2",
            CASE
              WHEN isNaN("t0"."height")
              THEN nan
              WHEN ABS("t0"."height") = 0
              THEN 0.0
              ELSE "t0"."height"
            END AS "q3",
            "t0"."person" AS "entity"
          FROM "people" AS "t0"
          WHERE
            NOT (
              isNull("t0"."age")
              OR isNull("t0"."name")
              OR isNull(
                CASE
                  WHEN isNaN("t0"."height")
                  THEN nan
                  WHEN ABS("t0"."height") = 0
                  THEN 0.0
                  ELSE "t0"."height"
                END
              )
            )
        ) AS "t2"
        GROUP BY
          "t2"."q1",
          "t2"."q2",
          "t2"."q3",
          "t2"."entity"
      ) AS "t5"
      GROUP BY
        "t5"."q1",
        "t5"."q2",
        "t5"."q3"
    ) AS "t6"
  ) AS "t8"
  CROSS JOIN (
    SELECT
      COUNT(*) AS "records_dropped"
    FROM (
      SELECT
        "t0"."age" AS "q1",
        "t0"."name" AS "q2",
        CASE
          WHEN isNaN("t0"."height")
          THEN nan
          WHEN ABS("t0"."height") = 0
          THEN 0.0
          ELSE "t0"."height"
        END AS "q3",
        "t0"."person" AS "entity"
      FROM "people" AS "t0"
      WHERE
        isNull("t0"."age")
        OR isNull("t0"."name")
        OR isNull(
          CASE
            WHEN isNaN("t0"."height")
            THEN nan
            WHEN ABS("t0"."height") = 0
            THEN 0.0
            ELSE "t0"."height"
          END
        )
    ) AS "t1"
  ) AS "t4"
) AS "t9"
;

-- histogram without NULL
SELECT
  "t10"."class_size" AS "class_size",
  "t10"."classes" AS "classes",
  "t10"."records" AS "records",
  "t10"."blank_records" AS "blank_records",
  "t10"."records_dropped" AS "records_dropped",
  'drop' AS "nulls"
FROM (
  SELECT
    "t9"."class_size" AS "class_size",
    "t9"."classes" AS "classes",
    "t9"."records" AS "records",
    "t9"."blank_records" AS "blank_records",
    "t4"."records_dropped" AS "records_dropped"
  FROM (
    SELECT
      "t7"."class_size" AS "class_size",
      "t7"."classes" AS "classes",
      "t7"."records" AS "records",
      CAST(NULL AS Nullable(Int64)) AS "blank_records"
    FROM (
      SELECT
        "t6"."class_size" AS "class_size",
        COUNT(*) AS "classes",
        SUM("t6"."records") AS "records"
      FROM (
        SELECT
          "t5"."q1" AS "q1",
          "t5"."q2" AS "q2",
          "t5"."q3" AS "q3",
          "t5"."records" AS "records",
          "t5"."records" AS "class_size"
        FROM (
          SELECT
            "t2"."q1" AS "q1",
            "t2"."q2" AS "q2",
            "t2"."q3" AS "q3",
            COUNT(*) AS "records"
          FROM (
            SELECT
              "t0"."age" AS "q1",
              "t0"."name" AS "q2",
              CASE
                WHEN isNaN("t0"."height")
                THEN nan
                WHEN ABS("t0"."height") = 0
                THEN 0.0
                ELSE "t0"."height"
              END AS "q3"
            FROM "people" AS "t0"
            WHERE
              NOT (
                isNull("t0"."age")
                OR isNull("t0"."name")
                OR isNull(
                  CASE
                    WHEN isNaN("t0"."height")
                    THEN nan
                    WHEN ABS("t0"."height") = 0
                    THEN 0.0
                    ELSE "t0"."height"
                  END
                )
              )
          ) AS "t2"
          GROUP BY
            "t2"."q1",
            "t2"."q2",
            "t2"."q3"
        ) AS "t5"
      ) AS "t6"
      GROUP BY
        "t6"."class_size"
    ) AS "t7"
  ) AS "t9"
  CROSS JOIN (
    SELECT
      COUNT(*) AS "records_dropped"
    FROM (
      SELECT
        "t0"."age" AS "q1",
        "t0"."name" AS "q2",
        CASE
          WHEN isNaN("t0"."height")
          THEN nan
          WHEN ABS("t0"."height") = 0
          THEN 0.0
          ELSE "t0"."height"
        END AS "q3"
      FROM "people" AS "t0"
      WHERE
        isNull("t0"."age")
        OR isNull("t0"."name")
        OR isNull(
          CASE
            WHEN isNaN("t0"."height")
            THEN nan
            WHEN ABS("t0"."height") = 0
            THEN 0.0
            ELSE "t0"."height"
          END
        )
    ) AS "t1"
  ) AS "t4"
) AS "t10"
;

-- histogram by group
WITH "t2" AS (
  SELECT
    "t1"."q1" AS "q1",
    "t1"."q2" AS "q2",
    "t1"."q3" AS "q3",
    "t1"."q4" AS "q4",
    COUNT(*) AS "records"
  FROM (
    SELECT
      "t0"."age" AS "q1",
      "t0"."name" AS "q2",
      CASE
        WHEN isNaN("t0"."height")
        THEN nan
        WHEN ABS("t0"."height") = 0
        THEN 0.0
        ELSE "t0"."height"
      END AS "q3",
      "t0"."disease" AS "q4"
    FROM "people" AS "t0"
  ) AS "t1"
  GROUP BY
    "t1"."q1",
    "t1"."q2",
    "t1"."q3",
    "t1"."q4"
)
SELECT
  "t10"."q4" AS "reid: 1",
  "t10"."class_size" AS "class_size",
  "t10"."classes" AS "classes",
  "t10"."records" AS "records",
  CAST(NULL AS Nullable(Int64)) AS "blank_records",
  "t10"."records_dropped" AS "records_dropped",
  'drop' AS "nulls"
FROM (
  SELECT
    "t9"."q4" AS "q4",
    "t9"."class_size" AS "class_size",
    "t9"."classes" AS "classes",
    "t9"."records" AS "records",
    "t9"."left_out" AS "left_out",
    SUM("t9"."left_out") OVER (PARTITION BY "t9"."q4" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS "records_dropped",
    COUNT("t9"."class_size") OVER (PARTITION BY "t9"."q4" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS "sizes"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t5"."q4" AS "q4",
        CAST(NULL AS Nullable(Int64)) AS "class_size",
        0 AS "classes",
        0 AS "records",
        "t5"."left_out" AS "left_out"
      FROM (
        SELECT
          "t3"."q4" AS "q4",
          SUM(
            CASE
              WHEN isNull("t3"."q1") OR isNull("t3"."q2") OR isNull("t3"."q3")
              THEN "t3"."records"
              ELSE 0
            END
          ) AS "left_out"
        FROM "t2" AS "t3"
        GROUP BY
          "t3"."q4"
      ) AS "t5"
    ) AS "t6"
    UNION ALL
    SELECT
      *
    FROM (
      SELECT
        "t7"."q4" AS "q4",
        "t7"."class_size" AS "class_size",
        "t7"."classes" AS "classes",
        "t7"."records" AS "records",
        0 AS "left_out"
      FROM (
        SELECT
          "t4"."q4" AS "q4",
          "t4"."class_size" AS "class_size",
          COUNT(*) AS "classes",
          SUM("t4"."records") AS "records"
        FROM (
          SELECT
            "t3"."q1" AS "q1",
            "t3"."q2" AS "q2",
            "t3"."q3" AS "q3",
            "t3"."q4" AS "q4",
            "t3"."records" AS "records",
            "t3"."records" AS "class_size"
          FROM "t2" AS "t3"
          WHERE
            NOT (
              isNull("t3"."q1") OR isNull("t3"."q2") OR isNull("t3"."q3")
            )
        ) AS "t4"
        GROUP BY
          "t4"."q4",
          "t4"."class_size"
      ) AS "t7"
    ) AS "t8"
  ) AS "t9"
) AS "t10"
WHERE
  isNotNull("t10"."class_size") OR (
    "t10"."sizes" = 0
  )
;

-- population_histogram
SELECT
  "t11"."class_size" AS "class_size",
  "t11"."classes" AS "classes",
  "t11"."records" AS "records",
  "t11"."uncovered" AS "uncovered",
  CAST(NULL AS Nullable(Int64)) AS "blank_records",
  0 AS "records_dropped",
  'value' AS "nulls"
FROM (
  SELECT
    "t10"."class_size" AS "class_size",
    COUNT(*) AS "classes",
    SUM("t10"."records") AS "records",
    SUM("t10"."uncovered") AS "uncovered"
  FROM (
    SELECT
      "t9"."q1" AS "q1",
      "t9"."q2" AS "q2",
      "t9"."q3" AS "q3",
      "t9"."own" AS "own",
      "t9"."found" AS "found",
      "t9"."own" AS "records",
      GREATEST("t9"."found", "t9"."own") AS "class_size",
      CASE WHEN "t9"."found" < "t9"."own" THEN "t9"."own" ELSE 0 END AS "uncovered",
      CASE
        WHEN isNull("t9"."q1") AND isNull("t9"."q2") AND isNull("t9"."q3")
        THEN "t9"."own"
        ELSE 0
      END AS "blank"
    FROM (
      SELECT
        "t8"."q1" AS "q1",
        "t8"."q2" AS "q2",
        "t8"."q3" AS "q3",
        SUM("t8"."own") AS "own",
        SUM("t8"."found") AS "found"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t4"."q1" AS "q1",
            "t4"."q2" AS "q2",
            "t4"."q3" AS "q3",
            "t4"."records" AS "own",
            0 AS "found"
          FROM (
            SELECT
              "t2"."q1" AS "q1",
              "t2"."q2" AS "q2",
              "t2"."q3" AS "q3",
              COUNT(*) AS "records"
            FROM (
              SELECT
                "t0"."age" AS "q1",
                "t0"."name" AS "q2",
                CASE
                  WHEN isNaN("t0"."height")
                  THEN nan
                  WHEN ABS("t0"."height") = 0
                  THEN 0.0
                  ELSE "t0"."height"
                END AS "q3"
              FROM "people" AS "t0"
            ) AS "t2"
            GROUP BY
              "t2"."q1",
              "t2"."q2",
              "t2"."q3"
          ) AS "t4"
        ) AS "t6"
        UNION ALL
        SELECT
          *
        FROM (
          SELECT
            "t5"."q1" AS "q1",
            "t5"."q2" AS "q2",
            "t5"."q3" AS "q3",
            0 AS "own",
            "t5"."records" AS "found"
          FROM (
            SELECT
              "t3"."q1" AS "q1",
              "t3"."q2" AS "q2",
              "t3"."q3" AS "q3",
              COUNT(*) AS "records"
            FROM (
              SELECT
                "t1"."age" AS "q1",
                "t1"."name" AS "q2",
                CASE
                  WHEN isNaN("t1"."height")
                  THEN nan
                  WHEN ABS("t1"."height") = 0
                  THEN 0.0
                  ELSE "t1"."height"
                END AS "q3"
              FROM "country" AS "t1"
            ) AS "t3"
            GROUP BY
              "t3"."q1",
              "t3"."q2",
              "t3"."q3"
          ) AS "t5"
        ) AS "t7"
      ) AS "t8"
      GROUP BY
        "t8"."q1",
        "t8"."q2",
        "t8"."q3"
    ) AS "t9"
    WHERE
      "t9"."own" > 0
  ) AS "t10"
  GROUP BY
    "t10"."class_size"
) AS "t11"
;

-- l_diversity recursive
SELECT
  "t6"."class_size" AS "class_size",
  "t6"."value" AS "value",
  "t6"."classes" AS "classes",
  0 AS "records_dropped",
  'value' AS "nulls"
FROM (
  SELECT
    "t5"."class_size" AS "class_size",
    "t5"."value" AS "value",
    COUNT(*) AS "classes"
  FROM (
    SELECT
      "t4"."q1" AS "q1",
      "t4"."q2" AS "q2",
      "t4"."q3" AS "q3",
      "t4"."class_size" AS "class_size",
      "t4"."hits" AS "value"
    FROM (
      SELECT
        "t3"."q1" AS "q1",
        "t3"."q2" AS "q2",
        "t3"."q3" AS "q3",
        SUM("t3"."n") AS "class_size",
        COUNT(*) AS "parts",
        MAX("t3"."n") AS "most",
        SUM(
          CAST(CASE WHEN "t3"."largest" < (
            "t3"."tail" * 3
          ) THEN 1 ELSE 0 END AS Nullable(Float64))
        ) AS "hits"
      FROM (
        SELECT
          "t2"."q1" AS "q1",
          "t2"."q2" AS "q2",
          "t2"."q3" AS "q3",
          "t2"."s" AS "s",
          "t2"."n" AS "n",
          SUM(CAST("t2"."n" AS Nullable(Float64))) OVER (
            PARTITION BY "t2"."q1", "t2"."q2", "t2"."q3"
            ORDER BY "t2"."n" ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS "tail",
          MAX(CAST("t2"."n" AS Nullable(Float64))) OVER (
            PARTITION BY "t2"."q1", "t2"."q2", "t2"."q3"
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ) AS "largest"
        FROM (
          SELECT
            "t1"."q1" AS "q1",
            "t1"."q2" AS "q2",
            "t1"."q3" AS "q3",
            "t1"."s" AS "s",
            COUNT(*) AS "n"
          FROM (
            SELECT
              "t0"."age" AS "q1",
              "t0"."name" AS "q2",
              CASE
                WHEN isNaN("t0"."height")
                THEN nan
                WHEN ABS("t0"."height") = 0
                THEN 0.0
                ELSE "t0"."height"
              END AS "q3",
              "t0"."disease" AS "s"
            FROM "people" AS "t0"
          ) AS "t1"
          GROUP BY
            "t1"."q1",
            "t1"."q2",
            "t1"."q3",
            "t1"."s"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        "t3"."q1",
        "t3"."q2",
        "t3"."q3"
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    "t5"."class_size",
    "t5"."value"
) AS "t6"
;

-- t_closeness equal
WITH "t2" AS (
  SELECT
    "t1"."q1" AS "q1",
    "t1"."q2" AS "q2",
    "t1"."q3" AS "q3",
    "t1"."s" AS "s",
    COUNT(*) AS "n"
  FROM (
    SELECT
      "t0"."age" AS "q1",
      "t0"."name" AS "q2",
      CASE
        WHEN isNaN("t0"."height")
        THEN nan
        WHEN ABS("t0"."height") = 0
        THEN 0.0
        ELSE "t0"."height"
      END AS "q3",
      "t0"."disease" AS "s"
    FROM "people" AS "t0"
  ) AS "t1"
  GROUP BY
    "t1"."q1",
    "t1"."q2",
    "t1"."q3",
    "t1"."s"
), "t5" AS (
  SELECT
    "t3"."s" AS "s",
    SUM(CAST("t3"."n" AS Nullable(Float64))) AS "held"
  FROM "t2" AS "t3"
  GROUP BY
    "t3"."s"
)
SELECT
  "t15"."class_size" AS "class_size",
  "t15"."value" AS "value",
  "t15"."classes" AS "classes",
  0 AS "records_dropped",
  'value' AS "nulls"
FROM (
  SELECT
    "t14"."class_size" AS "class_size",
    "t14"."value" AS "value",
    COUNT(*) AS "classes"
  FROM (
    SELECT
      "t13"."q1" AS "q1",
      "t13"."q2" AS "q2",
      "t13"."q3" AS "q3",
      "t13"."class_size" AS "class_size",
      "t13"."further" AS "value"
    FROM (
      SELECT
        "t12"."q1" AS "q1",
        "t12"."q2" AS "q2",
        "t12"."q3" AS "q3",
        SUM("t12"."n") AS "class_size",
        COUNT(*) AS "parts",
        MAX("t12"."n") AS "most",
        SUM(
          CASE
            WHEN (
              (
                CAST("t12"."n" AS Nullable(Float64)) / "t12"."size"
              ) - "t12"."share"
            ) > 0
            THEN (
              CAST("t12"."n" AS Nullable(Float64)) / "t12"."size"
            ) - "t12"."share"
            ELSE 0.0
          END
        ) AS "further"
      FROM (
        SELECT
          "t11"."q1" AS "q1",
          "t11"."q2" AS "q2",
          "t11"."q3" AS "q3",
          "t11"."s" AS "s",
          "t11"."n" AS "n",
          "t11"."s_right" AS "s_right",
          "t11"."held" AS "held",
          "t11"."total" AS "total",
          SUM(CAST("t11"."n" AS Nullable(Float64))) OVER (
            PARTITION BY "t11"."q1", "t11"."q2", "t11"."q3"
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ) AS "size",
          "t11"."held" / "t11"."total" AS "share"
        FROM (
          SELECT
            "t10"."q1" AS "q1",
            "t10"."q2" AS "q2",
            "t10"."q3" AS "q3",
            "t10"."s" AS "s",
            "t10"."n" AS "n",
            "t10"."s_right" AS "s_right",
            COALESCE(
              "t10"."held",
              (
                SELECT
                  sumIf("t6"."held", isNull("t6"."s")) AS "of_null"
                FROM "t5" AS "t6"
              )
            ) AS "held",
            (
              SELECT
                SUM("t6"."held") AS "total"
              FROM "t5" AS "t6"
            ) AS "total"
          FROM (
            SELECT
              "t4"."q1" AS "q1",
              "t4"."q2" AS "q2",
              "t4"."q3" AS "q3",
              "t4"."s" AS "s",
              "t4"."n" AS "n",
              "t7"."s" AS "s_right",
              "t7"."held" AS "held"
            FROM "t2" AS "t4"
            LEFT OUTER JOIN "t5" AS "t7"
              ON "t4"."s" = "t7"."s"
          ) AS "t10"
        ) AS "t11"
      ) AS "t12"
      GROUP BY
        "t12"."q1",
        "t12"."q2",
        "t12"."q3"
    ) AS "t13"
  ) AS "t14"
  GROUP BY
    "t14"."class_size",
    "t14"."value"
) AS "t15"
;

-- beta_likeness enhanced
WITH "t2" AS (
  SELECT
    "t1"."q1" AS "q1",
    "t1"."q2" AS "q2",
    "t1"."q3" AS "q3",
    "t1"."s" AS "s",
    COUNT(*) AS "n"
  FROM (
    SELECT
      "t0"."age" AS "q1",
      "t0"."name" AS "q2",
      CASE
        WHEN isNaN("t0"."height")
        THEN nan
        WHEN ABS("t0"."height") = 0
        THEN 0.0
        ELSE "t0"."height"
      END AS "q3",
      "t0"."disease" AS "s"
    FROM "people" AS "t0"
  ) AS "t1"
  GROUP BY
    "t1"."q1",
    "t1"."q2",
    "t1"."q3",
    "t1"."s"
), "t5" AS (
  SELECT
    "t3"."s" AS "s",
    SUM(CAST("t3"."n" AS Nullable(Float64))) AS "held"
  FROM "t2" AS "t3"
  GROUP BY
    "t3"."s"
)
SELECT
  "t14"."class_size" AS "class_size",
  "t14"."value" AS "value",
  "t14"."classes" AS "classes",
  0 AS "records_dropped",
  'value' AS "nulls"
FROM (
  SELECT
    "t13"."class_size" AS "class_size",
    "t13"."value" AS "value",
    COUNT(*) AS "classes"
  FROM (
    SELECT
      "t12"."q1" AS "q1",
      "t12"."q2" AS "q2",
      "t12"."q3" AS "q3",
      "t12"."class_size" AS "class_size",
      CASE
        WHEN "t12"."allowed" <= "t12"."class_size"
        THEN CASE
          WHEN (
            (
              (
                "t12"."highest" * "t12"."total"
              ) / CAST("t12"."class_size" AS Nullable(Float64))
            ) - 1
          ) > 0
          THEN (
            (
              "t12"."highest" * "t12"."total"
            ) / CAST("t12"."class_size" AS Nullable(Float64))
          ) - 1
          ELSE 0.0
        END
        ELSE inf
      END AS "value"
    FROM (
      SELECT
        "t11"."q1" AS "q1",
        "t11"."q2" AS "q2",
        "t11"."q3" AS "q3",
        SUM("t11"."n") AS "class_size",
        COUNT(*) AS "parts",
        MAX("t11"."n") AS "most",
        MAX(
          (
            CAST("t11"."n" AS Nullable(Float64)) * "t11"."total"
          ) / (
            "t11"."held" * (
              1 - LN("t11"."held" / "t11"."total")
            )
          )
        ) AS "allowed",
        MAX(CAST("t11"."n" AS Nullable(Float64)) / "t11"."held") AS "highest",
        MIN(CAST("t11"."n" AS Nullable(Float64)) / "t11"."held") AS "lowest",
        MAX("t11"."total") AS "total"
      FROM (
        SELECT
          "t10"."q1" AS "q1",
          "t10"."q2" AS "q2",
          "t10"."q3" AS "q3",
          "t10"."s" AS "s",
          "t10"."n" AS "n",
          "t10"."s_right" AS "s_right",
          COALESCE(
            "t10"."held",
            (
              SELECT
                sumIf("t6"."held", isNull("t6"."s")) AS "of_null"
              FROM "t5" AS "t6"
            )
          ) AS "held",
          (
            SELECT
              SUM("t6"."held") AS "total"
            FROM "t5" AS "t6"
          ) AS "total"
        FROM (
          SELECT
            "t4"."q1" AS "q1",
            "t4"."q2" AS "q2",
            "t4"."q3" AS "q3",
            "t4"."s" AS "s",
            "t4"."n" AS "n",
            "t7"."s" AS "s_right",
            "t7"."held" AS "held"
          FROM "t2" AS "t4"
          LEFT OUTER JOIN "t5" AS "t7"
            ON "t4"."s" = "t7"."s"
        ) AS "t10"
      ) AS "t11"
      GROUP BY
        "t11"."q1",
        "t11"."q2",
        "t11"."q3"
    ) AS "t12"
  ) AS "t13"
  GROUP BY
    "t13"."class_size",
    "t13"."value"
) AS "t14"
;
