-- class_size
SELECT
  `t2`.`person`,
  `t2`.`age`,
  `t2`.`name`,
  `t2`.`height`,
  `t2`.`disease`,
  `t2`.`select`,
  `t2`.`k`
FROM (
  SELECT
    `t1`.`person`,
    `t1`.`age`,
    `t1`.`name`,
    `t1`.`height`,
    `t1`.`disease`,
    `t1`.`select`,
    `t1`.`reid_one`,
    COUNT(`t1`.`reid_one`) OVER (
      PARTITION BY `t1`.`age`, CASE
        WHEN CHAR_LENGTH(`t1`.`name`) = 0 AND `t1`.`name` + 0 = 0
        THEN UNHEX('FF')
        ELSE CAST(CAST(`t1`.`name` AS CHAR CHARACTER SET utf8mb4) AS BINARY)
      END, `t1`.`height`, `t1`.`select`
      ORDER BY CASE WHEN NULL IS NULL THEN 1 ELSE 0 END, NULL ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS `k`
  FROM (
    SELECT
      `t0`.`person`,
      `t0`.`age`,
      `t0`.`name`,
      `t0`.`height`,
      `t0`.`disease`,
      `t0`.`select`,
      1 AS `reid_one`
    FROM `people` AS `t0`
  ) AS `t1`
) AS `t2`
;
