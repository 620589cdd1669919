FROM people
SELECT * FROM people
SELECT name FROM main.people
SELECT name FROM memory.main.people
SELECT name FROM "people"
TABLE people
(FROM people)
((SELECT * FROM people))
FROM PEOPLE
FROM people LIMIT 1
SELECT count(*) FROM people, other
SELECT max(name) FROM people
FROM people TABLESAMPLE 1 ROWS
FROM people USING SAMPLE 1
SELECT * FROM (FROM people)
SELECT (SELECT max(name) FROM people)
SELECT 1 WHERE EXISTS (FROM people WHERE name = 'MARK1')
SELECT 1 IN (SELECT 1 FROM people)
SELECT * FROM (VALUES (1)) v(a), people
SELECT * FROM reid.risk_summary(people, ['age']), people
SELECT * FROM reid.risk_summary(people, ['age']) JOIN people ON true
SELECT * FROM reid.risk_summary(people, ['age']) LEFT JOIN people USING (age)
SELECT * FROM reid.risk_summary(people, ['age']) POSITIONAL JOIN people
SELECT * FROM reid.risk_summary(people, ['age']) NATURAL JOIN people
SELECT * FROM reid.risk_summary(people, ['age']), LATERAL (FROM people)
SELECT *, (SELECT name FROM people LIMIT 1) FROM reid.risk_summary(people, ['age'])
FROM reid.risk_summary(people, ['age']) WHERE k IN (SELECT age FROM people)
FROM reid.risk_summary(people, ['age']) ORDER BY (SELECT name FROM people LIMIT 1)
FROM reid.risk_summary(people, ['age']) LIMIT (SELECT age FROM people LIMIT 1)
FROM reid.risk_summary(people, ['age']) UNION ALL FROM people
FROM reid.risk_summary(people, ['age']) UNION ALL BY NAME FROM people
FROM reid.risk_summary(people, ['age']) EXCEPT FROM people
FROM people INTERSECT FROM people
WITH x AS (FROM people) FROM x
WITH x AS MATERIALIZED (FROM people) FROM x
WITH x AS NOT MATERIALIZED (FROM people) FROM x
WITH people AS (SELECT 1 AS age) FROM people
WITH people AS (SELECT 1 AS age) FROM reid.risk_summary(people, ['age'])
WITH x AS (SELECT * FROM people WHERE name = 'MARK1') FROM reid.risk_summary(x, ['age'])
WITH RECURSIVE x AS (FROM people UNION ALL FROM x) FROM x
WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT max(a) FROM x
WITH reid_answer_1 AS (SELECT 1) FROM reid_answer_1
FROM reid_answer_1
FROM temp.main.reid_answer_1
SELECT name FROM reid.risk_summary(people, ['age']) r, people p
SELECT people.name FROM reid.risk_summary(people, ['age'])
SELECT people FROM reid.risk_summary(people, ['age'])
SELECT p FROM people p
SELECT unnest(people) FROM people
SELECT COLUMNS('na.*') FROM people
SELECT COLUMNS(*) FROM people
SELECT * LIKE 'n%' FROM people
SELECT list(name) FROM people
SELECT histogram(name) FROM people
SELECT string_agg(name, ',') FROM people
SELECT row_number() OVER () FROM people
SELECT reid.equivalence_class_size(age) FROM people
SELECT equivalence_class_size(age, name) OVER () FROM people
SELECT reid.equivalence_class_size(1)
SELECT reid.cell_probability('m', 'MARK1')
FROM reid.equivalence_classes(people, ['name'])
FROM equivalence_classes(people, ['name'])
FROM reid.main.equivalence_classes(people, ['name'])
FROM "reid"."equivalence_classes"(people, ['name'])
FROM REID.EQUIVALENCE_CLASSES(people, ['name'])
FROM reid.disclosing_classes(people, ['name'], 'age')
FROM reid.individual_risk(people, ['age'], key := 'name')
FROM reid.suda_scores(people, ['age', 'name'], key := 'name')
FROM reid.suda_scores(people, ['age', 'name'], key := 'name', output := 'subsets')
FROM reid.suda_scores(people, ['age', 'name'], key := 'name', output := 'columns')
FROM reid.qar_risk(people, ['age', 'name'], key := 'name', output := 'contributions')
FROM reid.qar_risk(people, ['age', 'name'], remove := 1, key := 'name', output := 'elimination')
FROM reid.unicity(people, 'name', ['age'], output := 'people')
FROM reid.loglinear_risk(people, ['age'], 0.1, key := 'name')
FROM reid.adversary_risk(people, '{}', key := 'name')
FROM reid.score_records(people, 'm')
FROM reid.model_json('m')
FROM reid.load_model('m', people)
FROM reid.fitted_models()
FROM reid.uniqueness_profile('m', ['MARK1'])
FROM reid.audit_tables(['people'])
FROM reid.risk_summary(people, ['age'], by := 'name')
FROM reid.risk_summary(people, ['age'], by := ['name', 'age'])
FROM reid.class_size_histogram(people, ['age'], by := 'name')
FROM reid.pyc_fit(people, ['age'], by := 'name')
FROM reid.correctness_curve(people, ['age'], [10], by := 'name')
FROM reid.l_diversity(people, ['age'], 'name', by := 'name')
FROM reid.validate_risk(people, ['age'], by := 'name')
FROM reid.safe_table(people, ['name'], k := 1)
FROM reid.safe_table(people, ['name'], suppress := 'none')
FROM reid.safe_table(people, ['name'], suppress := 'primary')
FROM reid.safe_table(people, ['name'], zeros := 'list')
FROM reid.safe_table(people, ['name'], k := NULL)
FROM reid.risk_summary('/etc/passwd', ['column0'])
FROM reid.risk_summary('people.csv', ['age'])
FROM reid.risk_summary('https://example.com/a.parquet', ['age'])
FROM reid.risk_summary('s3://bucket/a.parquet', ['age'])
FROM reid.risk_summary("/etc/passwd", ['column0'])
FROM reid.risk_summary('people; DROP TABLE people', ['age'])
FROM reid.risk_summary('people'' UNION FROM people --', ['age'])
FROM reid.risk_summary((FROM people), ['age'])
FROM reid.risk_summary((SELECT 'people'), ['age'])
FROM reid.risk_summary(query('FROM people'), ['age'])
FROM reid.risk_summary(query_table('people'), ['age'])
FROM reid.risk_summary(getenv('HOME'), ['age'])
FROM reid.risk_summary(current_setting('home_directory'), ['age'])
FROM reid.risk_summary(people, [getenv('HOME')])
FROM reid.risk_summary(people, (SELECT list(name) FROM people))
FROM reid.risk_summary(people, ['age'], nulls := (SELECT name FROM people LIMIT 1))
FROM reid.risk_summary(people, ['age'], threshold := (SELECT age FROM people LIMIT 1))
FROM reid.risk_summary(duckdb_tables, ['database_name'])
FROM reid.risk_summary('duckdb_settings()', ['name'])
FROM reid.risk_summary('information_schema.tables', ['table_name'])
FROM reid.risk_summary(system.information_schema.tables, ['table_name'])
FROM reid.risk_summary(pеople, ['age'])
FROM reid.risk_summary(peopleⅠ, ['age'])
FROM reid.risk_summary('people​', ['age'])
FROM ｐeople
FROM pеople
FROM/**/people
FROM people -- reid.risk_summary(people, ['age'])
/* reid.risk_summary(people, ['age']) */ FROM people
SELECT 'reid.risk_summary(people)' FROM people
SELECT name AS "reid.risk_summary" FROM people
FROM reid.risk_summary(people, ['age']); FROM people
FROM people; FROM reid.risk_summary(people, ['age'])
;FROM people
FROM query('FROM people')
FROM query_table('people')
FROM query_table(['people'])
SELECT * FROM query('SELECT ' || 'name FROM people')
FROM reid.query('FROM people')
FROM reid_plan('x')
SELECT reid_plan('x')
SELECT reid_database()
SELECT reid_refusal('a')
SELECT reid_body_pyc_fit([1])
SELECT reid_authorize('a', 'b')
SELECT reid_authentication('a', 'b', 'c')
SELECT system.main.reid_plan('x')
FROM read_csv('/etc/passwd')
FROM read_csv_auto('/etc/passwd')
FROM read_text('/etc/passwd')
FROM read_blob('/etc/passwd')
FROM read_parquet('people.parquet')
FROM read_json('people.json')
FROM read_json_objects('people.json')
FROM read_ndjson('people.ndjson')
FROM parquet_scan('people.parquet')
FROM parquet_metadata('people.parquet')
FROM parquet_schema('people.parquet')
FROM sniff_csv('/etc/passwd')
FROM glob('/etc/*')
FROM '/etc/passwd'
FROM 'people.csv'
FROM "people.parquet"
FROM 'https://example.com/a.csv'
SELECT content FROM read_text('/proc/self/environ')
FROM quack_query('quack:localhost:1', 'FROM people')
FROM quack_active_connections()
FROM quack_server_list()
CALL quack_stop('quack:localhost:9494')
SELECT quack_nop_authorization('a', 'FROM people')
FROM duckdb_tables(), people
SELECT getenv('HOME') FROM duckdb_views()
FROM duckdb_settings()
FROM duckdb_functions()
FROM duckdb_secrets()
FROM duckdb_logs
FROM pragma_table_info('people') JOIN people ON true
FROM pragma_storage_info('people')
SELECT (SELECT max(name) FROM people) FROM information_schema.columns
FROM pg_catalog.pg_settings
FROM sqlite_master, read_text('/etc/passwd')
SELECT current_setting('secret_directory')
SELECT getenv('HOME')
SELECT getvariable('reid_sql_registered')
SELECT set_bit('1'::BIT, 0, 1)
SELECT nextval('s')
SELECT version(), current_user
SELECT pg_typeof(1)
SELECT error('x')
SELECT write_log('x')
SELECT json_serialize_sql('FROM people')
FROM json_execute_serialized_sql(json_serialize_sql('FROM people'))
PRAGMA json_execute_serialized_sql('{}')
DESCRIBE SELECT * FROM read_csv('people.csv')
SUMMARIZE SELECT * FROM people
DESCRIBE FROM read_csv('/etc/passwd')
SUMMARIZE people
EXPLAIN FROM people
EXPLAIN ANALYZE FROM people
PIVOT people ON age USING count(*)
UNPIVOT people ON age INTO NAME n VALUE v
COPY people TO '/tmp/reid_hostile.csv'
COPY (FROM people) TO '/tmp/reid_hostile.csv'
COPY people FROM '/etc/passwd'
EXPORT DATABASE '/tmp/reid_hostile'
IMPORT DATABASE '/tmp/reid_hostile'
ATTACH '/tmp/reid_hostile.db'
ATTACH ':memory:' AS x
DETACH memory
USE reid
CREATE TABLE x AS FROM people
CREATE OR REPLACE TABLE people AS SELECT 1
CREATE TEMP TABLE x AS FROM people
CREATE VIEW x AS FROM people
CREATE MACRO risk_summary(a, b) AS TABLE FROM people
CREATE OR REPLACE MACRO reid.main.risk_summary(tbl, qi) AS TABLE FROM query_table(tbl)
CREATE TYPE x AS ENUM ('a')
CREATE SEQUENCE s
CREATE SECRET (TYPE s3)
CREATE FUNCTION count(a) AS (SELECT max(name) FROM people)
INSERT INTO people SELECT * FROM people
UPDATE people SET age = 1
DELETE FROM people
TRUNCATE people
DROP TABLE people
ALTER TABLE people ADD COLUMN x INT
MERGE INTO people USING people AS p ON true WHEN MATCHED THEN DELETE
COMMENT ON TABLE people IS 'x'
ANALYZE people
CHECKPOINT
VACUUM
INSTALL spatial
LOAD '/tmp/x.duckdb_extension'
SET threads = 1
SET GLOBAL quack_authorization_function = 'quack_nop_authorization'
SET VARIABLE x = (SELECT list(name) FROM people)
RESET threads
PRAGMA database_list
PRAGMA enable_profiling
BEGIN TRANSACTION
COMMIT
PREPARE p AS FROM people
PREPARE p AS FROM query_table($1)
EXECUTE p('people')
DEALLOCATE p
FROM query_table($1)
SELECT ?
SELECT $name
FROM reid.risk_summary($1, ['age'])
FROM reid.risk_summary(people, ['age'], by := $1)
SELECT name::ENUM('a') FROM reid.risk_summary(people, ['age'])
SELECT '{"a": 1}'::JSON -> 'a'
SELECT k::STRUCT(a INT) FROM reid.risk_summary(people, ['age'])
SELECT list_transform([1], lambda x: (SELECT max(name) FROM people))
SELECT list_aggregate([1], 'sum')
SELECT reid.pyc_share((SELECT max(age) FROM people), 1, 2, 'uniqueness')
SELECT sum(k) FILTER (EXISTS (FROM people WHERE name = 'MARK1')) FROM reid.risk_summary(people, ['age'])
SELECT CASE WHEN EXISTS (FROM people WHERE name = 'MARK1') THEN 1 END
FROM reid.risk_summary(people, ['age']) QUALIFY max(k) OVER () > (SELECT max(age) FROM people)
FROM reid.risk_summary(people, ['age']) GROUP BY ALL HAVING EXISTS (FROM people)
FROM people AT (VERSION => 1)
FROM range(1000000000000)
FROM generate_series(1, 1000000000000)
FROM repeat_row(1, num_rows = 1000000000)
SELECT repeat('x', 1000000000)
FROM unnest([1, 2])
VALUES (1)
FROM test_all_types()
SELECT * REPLACE ((SELECT max(name) FROM people) AS k) FROM reid.risk_summary(people, ['age'])
SELECT DISTINCT ON ((SELECT max(name) FROM people)) k FROM reid.risk_summary(people, ['age'])
FROM reid.risk_summary(people, ['age'], entity := name)
FROM reid.risk_summary(people, ['age'], query := 'FROM people')
FROM reid.risk_summary(people, ['age'], by := 'name', by := 'sex')
FROM reid.risk_summary(people, ['age']) WITH ORDINALITY, people
FROM sniff_csv('people.csv'), reid.risk_summary(people, ['age'])
FROM reid.demo_people() d, people p
FROM reid.demo_people() WHERE age IN (SELECT age FROM people)
SELECT pg_read_file('/etc/passwd')
SELECT lo_import('/etc/passwd')
FROM postgres_query('x', 'FROM people')
FROM sqlite_scan('x.db', 'people')
FROM iceberg_scan('x')
FROM delta_scan('x')
FROM reid.risk_summary(people, ['age']) AS x(k) JOIN duckdb_columns() USING (k)
SELECT main.max(name) FROM main.people
SELECT memory.main.max(1)
SELECT system.main.getenv('HOME')
SELECT system.main.max(k) FROM reid.risk_summary(people, ['age'])
FROM reid.adversary_summary(people, '/etc/passwd')
FROM reid.adversary_summary(people, 'scenario.toml')
FROM reid.adversary_summary(people, 'adult_voter_register')
FROM reid.adversary_summary(people, '{"groups": [{"columns": ["age"], "by": "name"}]}')
FROM reid.adversary_summary(people, '{"groups": [{"columns": ["age"], "probabilities": {"MARK1": 1}}]}')
FROM reid.adversary_summary(people, '{"groups": [{"columns": ["age"], "\u0062y": "name"}]}')
FROM reid.adversary_summary(people, '{"hierarchies": {"name": {"broader": "/etc/passwd"}}}')
FROM reid.safe_table(people, ['sex'], protection := 1)
FROM reid.safe_table(people, ['sex'], value := 'income', dominance := NULL)
FROM reid.safe_table(people, ['sex'], value := 'income', p_percent := 0)
WITH x AS (SELECT getenv('HOME') AS h) SELECT h FROM x, information_schema.tables
WITH value AS (SELECT content FROM read_text('/etc/hostname')) SELECT * FROM value, information_schema.tables
WITH value AS (SELECT region FROM people) SELECT region FROM value, information_schema.tables
SELECT * FROM information_schema.tables ORDER BY (SELECT age FROM people LIMIT 1)
SELECT column_name, (SELECT list(age) FROM memory.main.people) FROM information_schema.columns
