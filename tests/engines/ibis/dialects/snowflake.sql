-- class_size
SELECT
  "t2".*
  EXCLUDE ("reid_one")
FROM (
  SELECT
    "t1"."person",
    "t1"."age",
    "t1"."name",
    "t1"."height",
    "t1"."disease",
    "t1"."select",
    "t1"."reid_one",
    COUNT("t1"."reid_one") OVER (
      PARTITION BY "t1"."age", COLLATE("t1"."name", ''), "t1"."height", "t1"."select"
      ORDER BY NULL ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS "k"
  FROM (
    SELECT
      "t0"."person",
      "t0"."age",
      "t0"."name",
      "t0"."height",
      "t0"."disease",
      "t0"."select",
      1 AS "reid_one"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
;

-- histogram by group
WITH "t2" AS (
  SELECT
    "t1"."q1",
    "t1"."q2",
    "t1"."q3",
    "t1"."q4",
    COUNT(*) AS "records"
  FROM (
    SELECT
      "t0"."age" AS "q1",
      COLLATE("t0"."name", '') AS "q2",
      "t0"."height" AS "q3",
      COLLATE("t0"."disease", '') AS "q4"
    FROM "people" AS "t0"
  ) AS "t1"
  GROUP BY
    1,
    2,
    3,
    4
)
SELECT
  "t10"."q4" AS "reid: 1",
  "t10"."class_size",
  "t10"."classes",
  "t10"."records",
  CAST(NULL AS BIGINT) AS "blank_records",
  "t10"."records_dropped",
  'drop' AS "nulls"
FROM (
  SELECT
    "t9"."q4",
    "t9"."class_size",
    "t9"."classes",
    "t9"."records",
    "t9"."left_out",
    SUM("t9"."left_out") OVER (
      PARTITION BY "t9"."q4"
      ORDER BY NULL ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS "records_dropped",
    COUNT("t9"."class_size") OVER (
      PARTITION BY "t9"."q4"
      ORDER BY NULL ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS "sizes"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t5"."q4",
        CAST(NULL AS BIGINT) AS "class_size",
        0 AS "classes",
        0 AS "records",
        "t5"."left_out"
      FROM (
        SELECT
          "t3"."q4",
          SUM(
            IFF(
              (
                "t3"."q1" IS NULL
              ) OR (
                "t3"."q2" IS NULL
              ) OR (
                "t3"."q3" IS NULL
              ),
              "t3"."records",
              0
            )
          ) AS "left_out"
        FROM "t2" AS "t3"
        GROUP BY
          1
      ) AS "t5"
    ) AS "t6"
    UNION ALL
    SELECT
      *
    FROM (
      SELECT
        "t7"."q4",
        "t7"."class_size",
        "t7"."classes",
        "t7"."records",
        0 AS "left_out"
      FROM (
        SELECT
          "t4"."q4",
          "t4"."class_size",
          COUNT(*) AS "classes",
          SUM("t4"."records") AS "records"
        FROM (
          SELECT
            "t3"."q1",
            "t3"."q2",
            "t3"."q3",
            "t3"."q4",
            "t3"."records",
            "t3"."records" AS "class_size"
          FROM "t2" AS "t3"
          WHERE
            NOT (
              (
                "t3"."q1" IS NULL
              ) OR (
                "t3"."q2" IS NULL
              ) OR (
                "t3"."q3" IS NULL
              )
            )
        ) AS "t4"
        GROUP BY
          1,
          2
      ) AS "t7"
    ) AS "t8"
  ) AS "t9"
) AS "t10"
WHERE
  (
    "t10"."class_size" IS NOT NULL
  ) OR (
    "t10"."sizes" = 0
  )
;

-- l_diversity recursive
SELECT
  "t6"."class_size",
  "t6"."value",
  "t6"."classes",
  "t6"."class_size" * "t6"."classes" AS "records",
  0 AS "records_dropped",
  'value' AS "nulls"
FROM (
  SELECT
    "t5"."class_size",
    "t5"."value",
    COUNT(*) AS "classes"
  FROM (
    SELECT
      "t4"."q1",
      "t4"."q2",
      "t4"."q3",
      "t4"."class_size",
      "t4"."hits" AS "value"
    FROM (
      SELECT
        "t3"."q1",
        "t3"."q2",
        "t3"."q3",
        SUM("t3"."n") AS "class_size",
        COUNT(*) AS "parts",
        MAX("t3"."n") AS "most",
        SUM(CAST(IFF("t3"."largest" < (
          "t3"."tail" * 3
        ), 1, 0) AS DOUBLE)) AS "hits"
      FROM (
        SELECT
          "t2"."q1",
          "t2"."q2",
          "t2"."q3",
          "t2"."s",
          "t2"."n",
          SUM(CAST("t2"."n" AS DOUBLE)) OVER (
            PARTITION BY "t2"."q1", "t2"."q2", "t2"."q3"
            ORDER BY "t2"."n" ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS "tail",
          MAX(CAST("t2"."n" AS DOUBLE)) OVER (
            PARTITION BY "t2"."q1", "t2"."q2", "t2"."q3"
            ORDER BY NULL ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ) AS "largest"
        FROM (
          SELECT
            "t1"."q1",
            "t1"."q2",
            "t1"."q3",
            "t1"."s",
            COUNT(*) AS "n"
          FROM (
            SELECT
              "t0"."age" AS "q1",
              COLLATE("t0"."name", '') AS "q2",
              "t0"."height" AS "q3",
              COLLATE("t0"."disease", '') AS "s"
            FROM "people" AS "t0"
          ) AS "t1"
          GROUP BY
            1,
            2,
            3,
            4
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1,
        2,
        3
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    1,
    2
) AS "t6"
;

-- t_closeness equal
WITH "t2" AS (
  SELECT
    "t1"."q1",
    "t1"."q2",
    "t1"."q3",
    "t1"."s",
    COUNT(*) AS "n"
  FROM (
    SELECT
      "t0"."age" AS "q1",
      COLLATE("t0"."name", '') AS "q2",
      "t0"."height" AS "q3",
      COLLATE("t0"."disease", '') AS "s"
    FROM "people" AS "t0"
  ) AS "t1"
  GROUP BY
    1,
    2,
    3,
    4
), "t5" AS (
  SELECT
    "t3"."s",
    SUM(CAST("t3"."n" AS DOUBLE)) AS "in_table"
  FROM "t2" AS "t3"
  GROUP BY
    1
)
SELECT
  "t15"."class_size",
  "t15"."value",
  "t15"."classes",
  "t15"."class_size" * "t15"."classes" AS "records",
  0 AS "records_dropped",
  'value' AS "nulls"
FROM (
  SELECT
    "t14"."class_size",
    "t14"."value",
    COUNT(*) AS "classes"
  FROM (
    SELECT
      "t13"."q1",
      "t13"."q2",
      "t13"."q3",
      "t13"."class_size",
      "t13"."further" AS "value"
    FROM (
      SELECT
        "t12"."q1",
        "t12"."q2",
        "t12"."q3",
        SUM("t12"."n") AS "class_size",
        COUNT(*) AS "parts",
        MAX("t12"."n") AS "most",
        SUM(
          IFF(
            (
              (
                CAST("t12"."n" AS DOUBLE) / "t12"."size"
              ) - (
                "t12"."in_table" / "t12"."total"
              )
            ) > 0,
            (
              CAST("t12"."n" AS DOUBLE) / "t12"."size"
            ) - (
              "t12"."in_table" / "t12"."total"
            ),
            0.0
          )
        ) AS "further"
      FROM (
        SELECT
          "t11"."q1",
          "t11"."q2",
          "t11"."q3",
          "t11"."s",
          "t11"."n",
          "t11"."s_right",
          "t11"."in_table",
          "t11"."total",
          SUM(CAST("t11"."n" AS DOUBLE)) OVER (
            PARTITION BY "t11"."q1", "t11"."q2", "t11"."q3"
            ORDER BY NULL ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ) AS "size"
        FROM (
          SELECT
            "t10"."q1",
            "t10"."q2",
            "t10"."q3",
            "t10"."s",
            "t10"."n",
            "t10"."s_right",
            COALESCE(
              "t10"."in_table",
              (
                SELECT
                  SUM(IFF("t6"."s" IS NULL, "t6"."in_table", NULL)) AS "of_null"
                FROM "t5" AS "t6"
              )
            ) AS "in_table",
            (
              SELECT
                SUM("t6"."in_table") AS "total"
              FROM "t5" AS "t6"
            ) AS "total"
          FROM (
            SELECT
              "t4"."q1",
              "t4"."q2",
              "t4"."q3",
              "t4"."s",
              "t4"."n",
              "t7"."s" AS "s_right",
              "t7"."in_table"
            FROM "t2" AS "t4"
            LEFT OUTER JOIN "t5" AS "t7"
              ON "t4"."s" = "t7"."s"
          ) AS "t10"
        ) AS "t11"
      ) AS "t12"
      GROUP BY
        1,
        2,
        3
    ) AS "t13"
  ) AS "t14"
  GROUP BY
    1,
    2
) AS "t15"
;
