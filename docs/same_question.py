"""The same question to DuckDB, PostgreSQL and Spark, each where its table lives.

`python docs/same_question.py postgres://analyst@host/database` prints three times the same figures.
"""

import sys
from typing import Any

import duckdb
import ibis
from pyspark.sql import SparkSession

import reid_sql
import reid_sql.ibis as ri
import reid_sql.spark as rs

QI = ["age", "sex", "postcode"]
Answer = dict[str, Any]


def on_duckdb(con: duckdb.DuckDBPyConnection) -> Answer:
    """In SQL, or from Python with the same names."""
    reid_sql.register(con)
    con.execute("CREATE TEMP TABLE people AS FROM demo_people()")
    summary = con.sql(f"FROM risk_summary(people, {QI})")
    diversity = con.sql(f"FROM l_diversity(people, {QI}, 'diagnosis')")
    forecast = con.sql(f"FROM pyc_forecast(people, {QI}, [67e6])")
    return answer_of(*(answer.to_arrow_table() for answer in (summary, diversity, forecast)))


def on_postgres(connection: Any) -> Answer:
    """By Ibis: PostgreSQL counts; the table is made here only because the town is made up."""
    people = connection.create_table("people", ri.demo_people(), temp=True)
    summary = ri.risk_summary(people, QI)
    diversity = ri.l_diversity(people, QI, "diagnosis")
    forecast = ri.pyc_forecast(people, QI, [67e6])
    return answer_of(*(answer.to_pyarrow() for answer in (summary, diversity, forecast)))


def on_spark() -> Answer:
    """In a session, local or remote."""
    people = rs.demo_people()
    summary = rs.risk_summary(people, QI)
    diversity = rs.l_diversity(people, QI, "diagnosis")
    forecast = rs.pyc_forecast(people, QI, [67e6])
    return answer_of(*(answer.toArrow() for answer in (summary, diversity, forecast)))


def answer_of(*answers: Any) -> Answer:
    """What is shown of the three answers, of one row each."""
    [summary], [diversity], [forecast] = (answer.to_pylist() for answer in answers)
    return {
        "records": summary["records"],
        "k": summary["k"],
        "unique": summary["unique_records"],
        "of one diagnosis": diversity["offending_records"],
        "match right": f"{forecast['correctness']:.10f}",
    }


if __name__ == "__main__":
    SparkSession.builder.master("local[2]").getOrCreate()
    print("DuckDB    ", on_duckdb(duckdb.connect()))
    print("PostgreSQL", on_postgres(ibis.connect(sys.argv[1])))
    print("Spark     ", on_spark())
