{{ config(materialized='table') }}
select * from read_csv('{{ env_var("REID_SQL_PEOPLE") }}')
