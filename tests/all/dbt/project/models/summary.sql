{{ config(materialized='table') }}
select records, classes, k from risk_summary('{{ ref("people") }}', ['age', 'sex', 'postcode'])
