-- The functions in a model: only people whom nine others share age band, sex and region with.
{{ config(materialized='table') }}
select age // 20 as age_band, sex, diagnosis from {{ ref('people') }}
qualify equivalence_class_size(age // 20, sex) >= 10
