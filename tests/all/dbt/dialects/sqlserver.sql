-- k_anonymity
with reid_rows as (
  select
  "age" as reid_q1,
  cast(cast("name" as nvarchar(max)) as varbinary(max)) as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4
from people
),
reid_classes as (
  select reid_q1, reid_q2, reid_q3, reid_q4, count_big(*) as reid_size
  from reid_rows
  group by reid_q1, reid_q2, reid_q3, reid_q4
)
select reid_size as failures, reid_size as class_size,
  reid_q1 as "age",
  cast(reid_q2 as nvarchar(max)) as "name",
  reid_q3 as "height",
  reid_q4 as "select"
from reid_classes
where reid_size < 5
;
