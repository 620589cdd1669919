-- Households: who is found with the members of their household?

-- 1,000 households of three people.
CREATE TEMP TABLE residents AS
SELECT range // 3 AS home, 20 + hash(range, 1) % 40 AS age, hash(range, 2) % 2 AS sex,
  hash(range // 3) % 5 AS district
FROM range(3000);

-- An attacker who identifies one member knows the household, and so also its other members.
SELECT households, round(average_member_risk, 3) AS average_member_risk,
  round(average_risk, 3) AS average_risk, round(households_at_risk, 3) AS households_at_risk
FROM household_risk(residents, 'home', ['age', 'sex', 'district']);
-- | households | average_member_risk | average_risk | households_at_risk |
-- | --- | --- | --- | --- |
-- | 1000 | 0.067 | 0.187 | 0.277 |

-- An attacker who knows all members looks for a household with the same values.
SELECT k, unique_households, round(uniqueness, 3) AS uniqueness,
  round(average_class_risk, 3) AS average_class_risk
FROM household_risk(residents, 'home', ['age', 'sex', 'district']);
-- | k | unique_households | uniqueness | average_class_risk |
-- | --- | --- | --- | --- |
-- | 1 | 922 | 0.922 | 0.96 |
