-- k_anonymity
with reid_rows as (
  select
  `age` as reid_q1,
  `name` as reid_q2,
  case when isNaN(`height`) then nan when `height` = 0 then 0 else `height` end as reid_q3,
  `select` as reid_q4
from people
),
reid_classes as (
  select reid_q1, reid_q2, reid_q3, reid_q4, toInt64(count(*)) as reid_size
  from reid_rows
  group by reid_q1, reid_q2, reid_q3, reid_q4
)
select reid_size as failures, reid_size as class_size,
  reid_q1 as `age`,
  reid_q2 as `name`,
  reid_q3 as `height`,
  reid_q4 as `select`
from reid_classes
where reid_size < 5
;
