{# Fails where the policy's checks of this model do not pass, also where one could not be judged. Failures are
   such checks, group by group. `table` is the model's name in the policy, where that is another
   than the model's own. #}
{% test reid_policy(model, policy, table=none) -%}
{%- if execute %}{{ reid_sql.refuse_without_functions('reid_policy') }}{% endif %}
with reid_answer as materialized (
  select reid_policy_findings({{ reid_sql.text(policy) }}, {{ reid_sql.text(table or model.name or '') }},
    {{ reid_sql.text(model) }}) as answer
),
reid_found as (
  select unnest(case when answer.refusal is null then answer.findings
    else error(answer.refusal) end) as finding
  from reid_answer
)
select unnest(finding) from reid_found where finding.verdict in ('fail', 'not judged')
{%- endtest %}
