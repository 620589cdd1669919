-- k_anonymity
with reid_rows as (
  select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4
from people
),
reid_classes as (
  select reid_q1, reid_q2, reid_q3, reid_q4, count(*) as reid_size
  from reid_rows
  group by reid_q1, reid_q2, reid_q3, reid_q4
)
select reid_size as failures, reid_size as class_size,
  reid_q1 as "age",
  reid_q2 as "name",
  reid_q3 as "height",
  reid_q4 as "select"
from reid_classes
where reid_size < 5
;

-- l_diversity recursive
with reid_rows as (
  select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4, collate("disease", '') as reid_s
from people
),
reid_cells as (
  select reid_q1, reid_q2, reid_q3, reid_q4, reid_s, count(*) as reid_n
  from reid_rows
  group by reid_q1, reid_q2, reid_q3, reid_q4, reid_s
),
reid_rising as (
  select reid_cells.*, max(reid_n) over (partition by reid_q1, reid_q2, reid_q3, reid_q4) as reid_largest,
    sum(reid_n) over (partition by reid_q1, reid_q2, reid_q3, reid_q4 order by reid_n
      rows between unbounded preceding and current row) as reid_tail
  from reid_cells
),
reid_classes as (
  select reid_q1, reid_q2, reid_q3, reid_q4, cast(sum(reid_n) as bigint) as reid_size,
cast(sum(case when cast(reid_largest as double precision) < cast(3.0 as double precision) * cast(reid_tail as double precision) then 1 else 0 end) as double precision) as reid_value
  from reid_rising
  group by reid_q1, reid_q2, reid_q3, reid_q4
)
select reid_size as failures, reid_size as class_size, reid_value as value,
  reid_q1 as "age",
  reid_q2 as "name",
  reid_q3 as "height",
  reid_q4 as "select"
from reid_classes
where reid_value < cast(1.999999999998 as double precision)
;

-- t_closeness
with reid_rows as (
  select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4, collate("disease", '') as reid_s
from people
),
reid_cells as (
  select reid_q1, reid_q2, reid_q3, reid_q4, reid_s, count(*) as reid_n
  from reid_rows
  group by reid_q1, reid_q2, reid_q3, reid_q4, reid_s
),
reid_beside as (
  select reid_cells.*, sum(reid_n) over (partition by reid_s) as reid_held,
    sum(reid_n) over (partition by reid_q1, reid_q2, reid_q3, reid_q4) as reid_all
  from reid_cells
),
reid_total as (select cast(cast(sum(reid_n) as bigint) as double precision) as reid_records from reid_cells),
reid_further as (
  select reid_beside.*, cast(reid_n as double precision) / cast(reid_all as double precision)
    - cast(reid_held as double precision) / reid_records as reid_more
  from reid_beside cross join reid_total
),
reid_classes as (
  select reid_q1, reid_q2, reid_q3, reid_q4, cast(sum(reid_n) as bigint) as reid_size,
    sum(case when reid_more > 0 then reid_more else 0 end) as reid_value
  from reid_further
  group by reid_q1, reid_q2, reid_q3, reid_q4
)
select reid_size as failures, reid_size as class_size, reid_value as value,
  reid_q1 as "age",
  reid_q2 as "name",
  reid_q3 as "height",
  reid_q4 as "select"
from reid_classes
where reid_value > cast(0.20000000000020002 as double precision)
;

-- journalist_risk
with reid_rows as (
  select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4
from people
),
reid_both as (
  select reid_q1, reid_q2, reid_q3, reid_q4, 0 as reid_class, count(*) as reid_own, 0 as reid_there
  from reid_rows
  group by reid_q1, reid_q2, reid_q3, reid_q4
  union all
  select reid_q1, reid_q2, reid_q3, reid_q4, 0 as reid_class, 0 as reid_own, count(*) as reid_there
  from (select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4
from country
) reid_population
  group by reid_q1, reid_q2, reid_q3, reid_q4
),
reid_met as (
  select reid_q1, reid_q2, reid_q3, reid_q4, max(reid_class) as reid_class, cast(sum(reid_own) as bigint) as reid_records,
    cast(sum(reid_there) as bigint) as reid_there
  from reid_both
  group by reid_q1, reid_q2, reid_q3, reid_q4
),
reid_classes as (
  select reid_q1, reid_q2, reid_q3, reid_q4, reid_class, reid_records,
    case when reid_there < reid_records then reid_records else reid_there end as reid_size
  from reid_met
  where reid_records > 0
),
reid_totals as (select cast(cast(sum(case when cast(1 as double precision) / reid_size > cast(0.2 as double precision) then reid_records else 0 end) as bigint) as double precision)
    / cast(cast(sum(reid_records) as bigint) as double precision) as reid_share
  from reid_classes)
select reid_records as failures, reid_size as class_size,
  reid_q1 as "age",
  reid_q2 as "name",
  reid_q3 as "height",
  reid_q4 as "select"
from reid_classes cross join reid_totals
where cast(1 as double precision) / reid_size > cast(0.2 as double precision) and reid_share > cast(0.0 as double precision)
;

-- no_worse
with reid_now as (
  select min(reid_size) as reid_k, count(*) as reid_classes,
    cast(sum(reid_size) as bigint) as reid_records,
    cast(sum(case when reid_size = 1 then 1 else 0 end) as bigint) as reid_unique,
    cast(sum(case when cast(1 as double precision) / reid_size > cast(0.2 as double precision) then reid_size else 0 end) as bigint) as reid_at_risk
  from (
    select count(*) as reid_size
    from (select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4
from people
) reid_aliased
    group by reid_q1, reid_q2, reid_q3, reid_q4
  ) reid_sized),
reid_then as (
  select min(reid_size) as reid_k, count(*) as reid_classes,
    cast(sum(reid_size) as bigint) as reid_records,
    cast(sum(case when reid_size = 1 then 1 else 0 end) as bigint) as reid_unique,
    cast(sum(case when cast(1 as double precision) / reid_size > cast(0.2 as double precision) then reid_size else 0 end) as bigint) as reid_at_risk
  from (
    select count(*) as reid_size
    from (select
  "age" as reid_q1,
  collate("name", '') as reid_q2,
  "height" as reid_q3,
  "select" as reid_q4
from country
) reid_aliased
    group by reid_q1, reid_q2, reid_q3, reid_q4
  ) reid_sized)
select 'k' as measure,
  cast(reid_now.reid_k as double precision) as figure,
  cast(reid_then.reid_k as double precision) as figure_before
from reid_now cross join reid_then
where cast(reid_now.reid_k as double precision) <
  cast(reid_then.reid_k as double precision)
union all
select 'uniqueness' as measure,
  cast(case when reid_now.reid_unique between 1 and 9 then 10 else reid_now.reid_unique end as double precision)
    / cast(reid_now.reid_records as double precision) as figure,
  cast(case when reid_then.reid_unique between 1 and 9 then 10 else reid_then.reid_unique end as double precision)
    / cast(reid_then.reid_records as double precision) as figure_before
from reid_now cross join reid_then
where cast(reid_now.reid_unique as double precision)
    / cast(reid_now.reid_records as double precision) >
  cast(reid_then.reid_unique as double precision)
    / cast(reid_then.reid_records as double precision)
union all
select 'average_risk' as measure,
  cast(case when reid_now.reid_classes between 1 and 9 then 10 else reid_now.reid_classes end as double precision)
    / cast(reid_now.reid_records as double precision) as figure,
  cast(case when reid_then.reid_classes between 1 and 9 then 10 else reid_then.reid_classes end as double precision)
    / cast(reid_then.reid_records as double precision) as figure_before
from reid_now cross join reid_then
where cast(reid_now.reid_classes as double precision)
    / cast(reid_now.reid_records as double precision) >
  cast(reid_then.reid_classes as double precision)
    / cast(reid_then.reid_records as double precision)
union all
select 'records_at_risk' as measure,
  cast(case when reid_now.reid_at_risk between 1 and 9 then 10 else reid_now.reid_at_risk end as double precision)
    / cast(reid_now.reid_records as double precision) as figure,
  cast(case when reid_then.reid_at_risk between 1 and 9 then 10 else reid_then.reid_at_risk end as double precision)
    / cast(reid_then.reid_records as double precision) as figure_before
from reid_now cross join reid_then
where cast(reid_now.reid_at_risk as double precision)
    / cast(reid_now.reid_records as double precision) >
  cast(reid_then.reid_at_risk as double precision)
    / cast(reid_then.reid_records as double precision)
;
