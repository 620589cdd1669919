-- DuckDB's command line and its UI
SHOW TABLES;
SHOW ALL TABLES;
DESCRIBE people;
FROM duckdb_tables();
SELECT database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT internal;
SELECT * FROM duckdb_columns() WHERE table_name = 'people' ORDER BY column_index;
SELECT sex, count(*) FROM people GROUP BY ALL ORDER BY ALL;
-- Metabase: its driver reads information_schema, and writes counts with names of tables before columns
SELECT * FROM information_schema.tables WHERE table_schema = 'main';
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema =
  'main';
SELECT "main"."people"."sex" AS "sex", COUNT(*) AS "count" FROM "main"."people" GROUP BY
  "main"."people"."sex" ORDER BY "main"."people"."sex" ASC;
SELECT COUNT(*) AS "count" FROM "main"."people" WHERE "main"."people"."sex" = 'F';
SELECT DATE_TRUNC('month', "main"."people"."seen") AS "seen", COUNT(*) AS "count" FROM
  "main"."people" GROUP BY DATE_TRUNC('month', "main"."people"."seen") ORDER BY DATE_TRUNC('month',
  "main"."people"."seen") ASC;
SELECT "source"."sex" AS "sex", COUNT(*) AS "count" FROM (SELECT * FROM "main"."people") AS "source"
  WHERE "source"."region" = 'north' GROUP BY "source"."sex";
-- Superset, by SQLAlchemy
SELECT sex AS sex, COUNT(*) AS count FROM main.people GROUP BY sex ORDER BY count DESC LIMIT 1000;
SELECT sex AS sex, COUNT(*) AS count FROM (SELECT * FROM people) AS virtual_table WHERE region IN
  ('north', 'south') GROUP BY sex ORDER BY count DESC LIMIT 10000;
SELECT sex AS sex, sum(pay) AS "SUM(pay)", AVG(pay) AS "AVG(pay)" FROM main.people GROUP BY sex
  LIMIT 1000;
SELECT * FROM main.people LIMIT 0;
-- Mosaic: bars of a histogram, and how the columns are
DESCRIBE SELECT "sex" AS "column" FROM "people" AS "source";
SELECT "region" AS "x", count(*) AS "y" FROM "people" GROUP BY "region";
SELECT "region" AS "x", count(*) AS "y" FROM "people" WHERE ("sex" = 'F') GROUP BY "region";
-- ibis with DuckDB
DESCRIBE SELECT * FROM "people";
SELECT * FROM (SELECT "t0"."sex", COUNT(*) AS "n" FROM "people" AS "t0" GROUP BY 1) AS "t1" ORDER BY
  "t1"."n" ASC;
SELECT COUNT(*) AS "CountStar(people)" FROM "people" AS "t0";
SELECT "t0"."sex", SUM("t0"."pay") AS "pay", COUNT(*) AS "n" FROM "people" AS "t0" WHERE "t0"."seen"
  = DATE '2026-01-02' GROUP BY 1;
-- dbt show
SELECT * FROM (SELECT region, count(*) AS people FROM people GROUP BY region) AS model_limit_subq
  LIMIT 5;
