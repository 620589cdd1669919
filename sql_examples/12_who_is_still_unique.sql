-- Who is still unique in the population: fit a model on a sample, score its records, keep the model.

CREATE TEMP TABLE people AS FROM demo_people();

-- The model is fitted to counts of values and of pairs of values; other functions take its name.
SELECT model, records, columns, ordered, "values", marginals
FROM fit_copula('town', people, ['age', 'sex', 'postcode', 'occupation'], ordered := ['age']);
-- | model | records | columns | ordered | values | marginals |
-- | --- | --- | --- | --- | --- | --- |
-- | town | 3000 | age, sex, postcode, occupation | age | 138 | 4 categorical |

-- A score for every record: the share of people with these values, and the risk among 100,000 people.
SELECT age, sex, postcode, occupation, class_size,
       round(uniqueness_xi, 3) AS xi, round(uniqueness_xi_error, 3) AS xi_error,
       round(correctness_kappa, 3) AS kappa
FROM score_records(people, 'town', 100000)
ORDER BY uniqueness_xi DESC, age, postcode LIMIT 5;
-- | age | sex | postcode | occupation | class_size | xi | xi_error | kappa |
-- | --- | --- | --- | --- | --- | --- | --- | --- |
-- | 28 | F | 04122 | arts | 1 | 0.909 | 0.007 | 0.954 |
-- | 97 | M | 04113 | retired | 1 | 0.902 | 0.015 | 0.95 |
-- | 63 | M | 04124 | research | 1 | 0.894 | 0.009 | 0.946 |
-- | 93 | F | 04124 | retired | 1 | 0.887 | 0.014 | 0.943 |
-- | 61 | F | 04117 | NULL | 1 | 0.886 | 0.004 | 0.942 |

-- One person, in populations of several sizes.
SELECT n,
       round(uniqueness_xi('town', n, 97, 'F', '04103', 'retired'), 3) AS xi,
       round(correctness_kappa('town', n, 97, 'F', '04103', 'retired'), 3) AS kappa
FROM (VALUES (3000), (100000), (10000000)) AS populations(n);
-- | n | xi | kappa |
-- | --- | --- | --- |
-- | 3000 | 0.986 | 0.993 |
-- | 100000 | 0.62 | 0.795 |
-- | 10000000 | 0 | 0.021 |

-- The population as a whole, of any size.
SELECT population, round(uniqueness, 4) AS uniqueness, round(correctness, 4) AS correctness
FROM copula_forecast('town', [3000, 100000, 300000000]);
-- | population | uniqueness | correctness |
-- | --- | --- | --- |
-- | 3000 | 0.6629 | 0.8019 |
-- | 100000 | 0.0595 | 0.1863 |
-- | 3e+08 | 0 | 0.0001 |

-- A model is JSON with a checksum. It contains no record, and a table or a file can store it.
CREATE TEMP TABLE saved AS FROM model_json('town');

SELECT model, records, method FROM load_model('town', saved);
-- | model | records | method |
-- | --- | --- | --- |
-- | town | 3000 | paper |

-- Known shares, such as those of a census, can replace the sample's; with 'calibrated', records repeat as
-- often as in the sample.
CREATE TEMP TABLE census AS
FROM (VALUES ('sex', 'F', 0.51), ('sex', 'M', 0.49)) AS shares(column_name, value, share);

SELECT model, marginals, method, round(calibration, 2) AS calibration
FROM fit_copula('calibrated', people, ['age', 'sex', 'postcode', 'occupation'], ordered := ['age'],
  marginals := census,
                method := 'calibrated');
-- | model | marginals | method | calibration |
-- | --- | --- | --- | --- |
-- | calibrated | 3 categorical, 1 given | calibrated | 1.06 |

-- What makes one person unique? ξ for sets of attributes, and by how much it falls without one of them.
SELECT model, records FROM fit_people('neighbours', people, ['age', 'sex', 'postcode', 'occupation']);
-- | model | records |
-- | --- | --- |
-- | neighbours | 3000 |

SELECT kind, array_to_string(attributes, ', ') AS attributes, round(uniqueness_xi, 3) AS xi,
       round(impact, 3) AS impact
FROM uniqueness_profile('neighbours', ['28', 'F', '04122', 'arts'], 3000, max_size := 2, level := 0.4);
-- | kind | attributes | xi | impact |
-- | --- | --- | --- | --- |
-- | known | age | 0 | NULL |
-- | known | sex | 0 | NULL |
-- | known | postcode | 0 | NULL |
-- | known | occupation | 0 | NULL |
-- | known | age, sex | 0 | NULL |
-- | known | age, postcode | 0.703 | NULL |
-- | known | age, occupation | 0.177 | NULL |
-- | known | sex, postcode | 0 | NULL |
-- | known | sex, occupation | 0 | NULL |
-- | known | postcode, occupation | 0.5 | NULL |
-- | known | age, sex, postcode, occupation | 0.99 | NULL |
-- | impact | age | 0.698 | 0.293 |
-- | impact | sex | 0.981 | 0.009 |
-- | impact | postcode | 0.403 | 0.588 |
-- | impact | occupation | 0.833 | 0.158 |
-- | smallest | age, postcode | 0.703 | NULL |

-- The share of people with the values of one person, and the list of models.
SELECT round(1e6 * cell_probability('town', 97, 'F', '04103', 'retired'), 2) AS in_a_million;
-- | in_a_million |
-- | --- |
-- | 4.78 |

SELECT model, records, method FROM fitted_models() ORDER BY model;
-- | model | records | method |
-- | --- | --- | --- |
-- | calibrated | 3000 | calibrated |
-- | neighbours | 3000 | people |
-- | town | 3000 | paper |

-- The model of people, which is not limited to pairs of columns, has a name, too.
SELECT model, records FROM fit_people('townspeople', people, ['age', 'sex', 'postcode']);
-- | model | records |
-- | --- | --- |
-- | townspeople | 3000 |
