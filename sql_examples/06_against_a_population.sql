-- Journalist risk: the released sample against a register of the whole town.

CREATE TEMP TABLE town AS FROM demo_people();

CREATE TEMP TABLE released AS SELECT * FROM (SELECT *, row_number() OVER () AS row FROM town)
  WHERE row % 10 = 0;

-- Within the sample nearly everybody looks unique …
SELECT records, unique_records, round(average_risk, 4) AS average_risk
FROM risk_summary(released, ['age', 'sex', 'postcode']);
-- | records | unique_records | average_risk |
-- | --- | --- | --- |
-- | 300 | 262 | 0.9367 |

-- … in the town far fewer are.
SELECT records, unique_records, round(average_risk, 4) AS average_risk, status
FROM journalist_risk(released, town, ['age', 'sex', 'postcode']);
-- | records | unique_records | average_risk | status |
-- | --- | --- | --- | --- |
-- | 300 | 112 | 0.5934 | ok |
