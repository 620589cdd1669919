-- Attribute disclosure: even a large class reveals an occupation if all of its people share it.

CREATE TEMP TABLE people AS FROM demo_people();

-- l-diversity: how many occupations are there among people of the same sex and postcode, and of the same age,
-- too?
SELECT value AS l, classes, k, offending_classes, round(offending_share, 4) AS offending_share
FROM l_diversity(people, ['sex', 'postcode'], 'occupation', l := 3);
-- | l | classes | k | offending_classes | offending_share |
-- | --- | --- | --- | --- | --- |
-- | 5 | 46 | 10 | 0 | 0 |

SELECT value AS l, classes, k, offending_classes, round(offending_share, 4) AS offending_share
FROM l_diversity(people, ['age', 'sex', 'postcode'], 'occupation', l := 3);
-- | l | classes | k | offending_classes | offending_share |
-- | --- | --- | --- | --- | --- |
-- | 1 | 1730 | 1 | 1591 | 0.8103 |

-- The offending classes are a table.
SELECT * EXCLUDE (records_dropped, nulls)
FROM disclosing_classes(people, ['age', 'sex', 'postcode'], 'occupation', threshold := 2)
ORDER BY class_size DESC, age, sex, postcode LIMIT 3;
-- | age | sex | postcode | class_size | value |
-- | --- | --- | --- | --- | --- |
-- | 75 | F | 04102 | 9 | 1 |
-- | 2 | M | 04102 | 8 | 1 |
-- | 8 | M | 04102 | 8 | 1 |

-- Variants have names. By entropy, a class with one frequent value is less diverse.
SELECT variant, round(value, 4) AS l
FROM l_diversity(people, ['sex', 'postcode'], 'occupation', variant := 'entropy');
-- | variant | l |
-- | --- | --- |
-- | entropy | 4.1135 |

-- t-closeness: how far are the shares of occupations in a class from those of the table? And those of ages,
-- which have an order and a distance?
SELECT variant, round(value, 4) AS t, offending_classes, round(offending_share, 4) AS offending_share
FROM t_closeness(people, ['sex', 'postcode'], 'occupation', t := 0.2);
-- | variant | t | offending_classes | offending_share |
-- | --- | --- | --- | --- |
-- | equal | 0.4406 | 22 | 0.2007 |

SELECT variant, round(value, 4) AS t, offending_classes
FROM t_closeness(people, ['sex', 'postcode'], 'age', variant := 'numeric', t := 0.2);
-- | variant | t | offending_classes |
-- | --- | --- | --- |
-- | numeric | 0.1114 | 0 |

-- (α, k): no value has a share above α, no class is smaller than k. β: by how much does a share grow?
-- δ: by which factor does it grow or fall?
SELECT value AS alpha, k, offending_classes
FROM attribute_disclosure(people, ['sex', 'postcode'], 'occupation', threshold := 0.5, k := 5);
-- | alpha | k | offending_classes |
-- | --- | --- | --- |
-- | 0.454545 | 10 | 0 |

SELECT round(value, 4) AS beta, offending_classes
FROM attribute_disclosure(people, ['sex', 'postcode'], 'occupation',
    threshold := 1, measure := 'beta_likeness');
-- | beta | offending_classes |
-- | --- | --- |
-- | 4.8404 | 31 |

SELECT variant, round(value, 4) AS delta, offending_classes, status
FROM attribute_disclosure(people, ['sex', 'postcode'], 'occupation',
    variant := 'all', measure := 'delta_disclosure');
-- | variant | delta | offending_classes | status |
-- | --- | --- | --- | --- |
-- | all | inf | 38 | infinite_delta: some class lacks a sensitive value, so an attacker can rule it out |

-- Each of these measures lists its classes too.
SELECT sex, postcode, class_size, round(value, 4) AS t
FROM disclosing_classes(people, ['sex', 'postcode'], 'occupation', threshold := 0.2, measure := 't_closeness')
ORDER BY value DESC, sex, postcode LIMIT 1;
-- | sex | postcode | class_size | t |
-- | --- | --- | --- | --- |
-- | M | 04124 | 11 | 0.4406 |

SELECT sex, postcode, class_size, round(value, 4) AS alpha
FROM disclosing_classes(people, ['sex', 'postcode'], 'occupation',
    threshold := 0.4, k := 5, measure := 'alpha_k_anonymity')
ORDER BY value DESC, sex, postcode LIMIT 1;
-- | sex | postcode | class_size | alpha |
-- | --- | --- | --- | --- |
-- | F | 04116 | 22 | 0.4545 |

SELECT sex, postcode, class_size, round(value, 4) AS beta
FROM disclosing_classes(people, ['sex', 'postcode'], 'occupation', threshold := 1, measure := 'beta_likeness')
ORDER BY value DESC, sex, postcode LIMIT 1;
-- | sex | postcode | class_size | beta |
-- | --- | --- | --- | --- |
-- | F | 04120 | 23 | 4.8404 |

SELECT sex, postcode, class_size, round(value, 4) AS delta
FROM disclosing_classes(people, ['sex', 'postcode'], 'occupation',
    threshold := 1, measure := 'delta_disclosure')
ORDER BY value DESC, sex, postcode LIMIT 1;
-- | sex | postcode | class_size | delta |
-- | --- | --- | --- | --- |
-- | F | 04106 | 89 | 2.1658 |

-- An attacker who abstains where unsure: about whom is she right, and would she be without their own records?
SELECT columns, rank, round(attacked, 3) AS attacked, round(precision, 3) AS precision,
  round(recall, 3) AS recall, round(baseline_recall, 3) AS baseline_recall,
  round(excess_low, 3) AS low, round(excess_high, 3) AS high
FROM inference_risk(people, ['age', 'sex', 'postcode'], 'occupation', max_size := 1);
-- | columns | rank | attacked | precision | recall | baseline_recall | low | high |
-- | --- | --- | --- | --- | --- | --- | --- | --- |
-- | age, postcode, sex | 1 | 0.655 | 0.967 | 0.633 | 0.409 | 0.191 | 0.261 |
-- | age | 2 | 0.401 | 0.973 | 0.39 | 0.39 | -0.035 | 0.035 |
-- | postcode | 3 | 0 | NULL | 0 | 0.39 | -0.035 | 0.035 |
-- | sex | 4 | 0 | NULL | 0 | 0.39 | -0.035 | 0.035 |
