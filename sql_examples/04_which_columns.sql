-- Which columns tell people apart: alone, and two at a time.

CREATE TEMP TABLE people AS FROM demo_people();

SELECT columns, round(distinction, 4) AS distinction, round(separation, 4) AS separation
FROM attribute_risk(people, ['age', 'sex', 'postcode', 'occupation'], max_size := 2)
ORDER BY separation DESC;
-- | columns | distinction | separation |
-- | --- | --- | --- |
-- | age, postcode | 0.4223 | 0.9989 |
-- | age, occupation | 0.1827 | 0.9947 |
-- | age, sex | 0.0663 | 0.9943 |
-- | age | 0.0333 | 0.9886 |
-- | postcode, occupation | 0.092 | 0.9878 |
-- | sex, postcode | 0.0153 | 0.9528 |
-- | sex, occupation | 0.0087 | 0.936 |
-- | postcode | 0.0077 | 0.9057 |
-- | occupation | 0.0043 | 0.8719 |
-- | sex | 0.0007 | 0.4999 |
