-- What an attacker may know: the risk if an attacker does not know everything about everybody.

CREATE TEMP TABLE people AS SELECT row_number() OVER () AS id, * FROM demo_people();

-- Which columns an attacker learns together, and with which probability: from a public register of addresses,
-- with fewer women than men, and from what people post. A TOML or JSON file will do, too.
SET VARIABLE scenario = {
  'population': 100000,
  'presence_disclosed': 0.5, 'presence_discovered': 0.5, 'uniqueness_confirmed': 0.5, 'link_confirmed': 0.5,
  'groups': [
    {'columns': ['sex', 'postcode'], 'by': 'sex', 'probabilities': {'F': 0.4, 'M': 0.6}},
    {'columns': ['age'], 'probability': 0.3},
    {'columns': ['marital_status', 'occupation'], 'probability': 0.1}
  ]};

-- How much lower is the risk than for an attacker who knows all columns?
SELECT measure, round(average, 4) AS average, round(records_at_risk, 4) AS at_risk,
  round(worst_average, 4) AS worst_average,
       round(worst_records_at_risk, 4) AS worst_at_risk, round(reduction_median, 4) AS reduction
FROM adversary_summary(people, getvariable('scenario'));
-- | measure | average | at_risk | worst_average | worst_at_risk | reduction |
-- | --- | --- | --- | --- | --- | --- |
-- | prosecutor | 0.0659 | 0.0423 | 0.735 | 0.735 | 0.94 |
-- | journalist | 0.0078 | 0 | 0.3325 | 0.735 | 0.9766 |
-- | marketer | 0.1154 | 0.136 | 0.834 | 0.9543 | 0.859 |
-- | overall | 0.0674 | 0 | 0.5712 | 0.861 | 0.874 |

-- Who is most exposed to this attacker? With `key`, `record` is the column that identifies records.
SELECT age, sex, postcode, marital_status, occupation, round(prosecutor, 4) AS prosecutor,
  round(marketer, 4) AS marketer,
       round(overall, 4) AS overall
FROM adversary_risk(people, getvariable('scenario'), key := 'id') AS risk
JOIN people ON risk.record = people.id
ORDER BY overall DESC, record LIMIT 3;
-- | age | sex | postcode | marital_status | occupation | prosecutor | marketer | overall |
-- | --- | --- | --- | --- | --- | --- | --- | --- |
-- | 64 | M | 04114 | widowed | industry | 0.262 | 0.275 | 0.1744 |
-- | 66 | M | 04112 | widowed | teaching | 0.262 | 0.2727 | 0.1733 |
-- | 48 | M | 04124 | divorced | transport | 0.222 | 0.2671 | 0.1649 |

-- Does the answer depend on the four unknown probabilities? The lowest and the highest of all 81
-- settings.
SELECT round(min(average), 4) AS lowest, round(max(average), 4) AS highest,
  round(min(reduction_median), 4) AS least_reduction
FROM adversary_summary(people, getvariable('scenario'), output := 'sensitivity');
-- | lowest | highest | least_reduction |
-- | --- | --- | --- |
-- | 0.0264 | 0.1012 | 0.8607 |
