"""How a reader of each public module writes a call: an example of every function there.

The call is spelled from the function's own parameters; what stands for them is the made-up town.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reid_sql.function import Function
from tools import function_facts as facts

ROOT: Final = Path(__file__).parents[1]
# What stands for a parameter that must be given; the tables and the model are made before the call.
GIVEN: Final[Mapping[str, str]] = {
    "tbl": "people",
    "population_tbl": "people",
    "original": "people",
    "released": "released",
    "synthetic": "released",
    "first": "people",
    "second": "next_month",
    "left": "purchases",
    "right": "jobs",
    "on": '{"person": "pid"}',
    "right_qi": '["job"]',
    "tables": "[published]",
    "by": '["sex", "education"]',
    "qi": '["age", "sex", "postcode"]',
    "columns": '["age", "sex", "postcode", "marital_status", "education", "occupation"]',
    "sensitive": '"diagnosis"',
    "name": '"town"',
    "model": '"town"',
    "values": '["47", "F", "04102"]',
    "population": "20_000",
    "populations": "[20_000]",
    "sampling_fraction": "0.1",
    "entity": '"person"',
    "household": '"postcode"',
    "scenario": '{"population": 100_000, "groups": [{"columns": ["age", "sex"], "probability": 0.5}]}',
    "sizes": "[100, 1000]",
    "correctness": "[0.99, 0.80]",
    "true_scores": "[0.9, 0.8, 0.4]",
    "false_scores": "[0.5, 0.3, 0.2, 0.1]",
    "p": "0.01",
    "xi": "0.58",
    "n": "101",
    "entropy": "8",
    "tail": "0",
    "k": "5",
}
TABLES: Final[Mapping[str, str]] = {
    "unicity": "purchases",
    "equivalence_class_people": "purchases",
    "load_model": "saved",
}
PUBLISHED: Final = '["sex", "education"], totals="margins", suppress="primary"'
# of so few columns, a law is fitted to the riskier half
FEW_CHOICES: Final = ("alpha=0.1", "tail=0.5")
PURCHASES: Final = (
    '{"person": [1, 1, 2, 2, 3, 3], "item": ["tea", "rice", "tea", "salt", "tea", "rice"]}'
)
PURCHASE_ROWS: Final = '[(1, "tea"), (1, "rice"), (2, "tea"), (2, "salt"), (3, "tea"), (3, "rice")]'
PURCHASE_VALUES: Final = PURCHASE_ROWS.strip("[]").replace('"', "'")
JOBS: Final = '{"pid": [1, 2, 3], "job": ["cook", "cook", "vet"]}'
JOB_ROWS: Final = '[(1, "cook"), (2, "cook"), (3, "vet")]'
JOB_VALUES: Final = JOB_ROWS.strip("[]").replace('"', "'")
COLUMNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("unicity", "join_risk"), '["item"]'),
    "household_risk": '["age", "sex", "education"]',
}
FIT: Final = 'fit_copula("town", people, ["age", "sex", "postcode"])'


def names_records(function: Function) -> bool:
    """Whether the answer names the table's records, by a key or by their places."""
    return "record" in dict(facts.result_columns(function)) and "key" in facts.named(function)


def used_in(line: str, rest: str) -> bool:
    """Whether the module that the line imports is used by its name; other lines are."""
    name = line.rpartition(" ")[2]
    return not line.startswith("import ") or re.search(rf"\b{name}\.", rest) is not None


@dataclass(frozen=True, eq=False)  # one face is itself alone
class Face:
    """A public module for data frames, and its reader's ways."""

    engine: str
    title: str  # the heading of its example
    alias: str  # the module's, by custom
    begin: tuple[str, ...]  # lines before every example
    fitted: tuple[str, ...]  # lines that make the model "town" known
    tables: Mapping[str, str]  # the line that makes a table, by its name
    # what values that hang on no table are taken from; nothing where there are none
    expressions: str
    key: str = ""  # the argument that names the records' key, where records have no places
    keyed: str = ""  # what gives the people that key
    first: str = ""  # what each call begins with
    file: str = ""  # the stub, where it is not named after the engine

    @property
    def stub(self) -> Path:
        """The file of its types and words."""
        return ROOT / "reid_sql" / (self.file or f"{self.engine}.pyi")

    def has(self, function: Function) -> bool:
        """Whether the function is there: a face that asks a connection has those of tables alone."""
        return not function.absence(self.engine) and (
            not self.first or facts.answers_a_table(function)
        )

    def example(self, function: Function) -> list[str]:
        """The statements of the function's example; the last one assigns the answer."""
        wanted = facts.needed(function)
        tbl = TABLES.get(function.name, GIVEN["tbl"])
        own = COLUMNS.get(function.name)
        given = {**GIVEN, "tbl": tbl, **({"columns": own, "qi": own} if own else {})}
        call, frame = self._call(function, [given[name] for name in wanted], tbl)
        models = "model" in wanted or function.name in {"load_model", "fitted_models"}
        made = self._made(f"{call} {frame}", models=models)
        if frame and not self._beside(function):
            call = f"{frame}.select({call})"
        asked = f"answer = {call}"
        return [*self._imports([*made, asked]), *made, asked]

    def shown(self, function: Function) -> str:
        """The example as a session shows it."""
        return "\n".join(f">>> {line}" for line in self.example(function))

    def _imports(self, lines: list[str]) -> list[str]:
        """The lines before every example, without modules that it does not use."""
        rest = "\n".join([*self.begin, *lines])
        return [line for line in self.begin if used_in(line, rest)]

    def _call(self, function: Function, told: list[str], tbl: str) -> tuple[str, str]:
        """The call, and the frame that it is asked of where it is no function of tables."""
        if facts.answers_a_table(function):
            few = {"alpha", "tail"} <= {parameter.name for parameter in function.parameters}
            options = [
                *(FEW_CHOICES if few else ()),
                *([self.key] if self.key and names_records(function) else ()),
            ]
            return self._spelled(function, [*told, *options]), ""
        if not facts.takes_a_record(function):
            return self._spelled(function, told), self.expressions
        cells = ['"item"'] if function.name in TABLES else ['"age"', '"sex"', '"postcode"']
        first = [tbl] if self._beside(function) else []
        return self._spelled(function, [*first, *told, *cells]), tbl

    def _spelled(self, function: Function, told: list[str]) -> str:
        given = [self.first, *told] if self.first else told
        return f"{self.alias}.{function.name}({', '.join(given)})"

    def _beside(self, function: Function) -> bool:
        """Whether class sizes come as a column beside the frame's own, as Polars' do not."""
        return facts.counts_in_a_window(function) and self.engine != "polars"

    def _made(self, used: str, *, models: bool) -> list[str]:
        """What makes the tables that are used, and the models that are known."""
        own = [line for name, line in self.tables.items() if re.search(rf"\b{name}\b", used)]
        lines = [*(self.fitted if models else ()), *own]
        text = "\n".join([used, *lines])
        if not re.search(r"\bpeople\b", text):
            return lines
        keyed = self.keyed if self.key and self.key in text else ""
        return [f"people = {self.alias}.demo_people({self.first}){keyed}", *lines]


POLARS: Final = Face(
    engine="polars",
    title="In Polars",
    alias="rp",
    begin=("import polars as pl", "import reid_sql.polars as rp"),
    fitted=(f"fitted = rp.{FIT}.collect()",),
    tables={
        "released": 'released = people.with_columns(pl.col("age") // 10 * 10)',
        "next_month": 'next_month = people.filter(pl.col("age") > 20)',
        "purchases": f"purchases = pl.LazyFrame({PURCHASES})",
        "jobs": f"jobs = pl.LazyFrame({JOBS})",
        "saved": 'saved = rp.model_json("town")',
        "published": f"published = rp.safe_table(people, {PUBLISHED})",
    },
    expressions="pl",
)
SPARK: Final = Face(
    engine="spark",
    title="On Spark",
    alias="rs",
    begin=(
        "import reid_sql.spark as rs",
        "from pyspark.sql import SparkSession",
        "spark = SparkSession.builder.getOrCreate()",
    ),
    fitted=(f"fitted = rs.{FIT}",),
    tables={
        "released": 'released = people.withColumn("age", people.age - people.age % 10)',
        "next_month": 'next_month = people.filter("age > 20")',
        "purchases": f'purchases = spark.createDataFrame({PURCHASE_ROWS}, ["person", "item"])',
        "jobs": f'jobs = spark.createDataFrame({JOB_ROWS}, ["pid", "job"])',
        "saved": 'saved = rs.model_json("town")',
        "published": f"published = rs.safe_table(people, {PUBLISHED})",
    },
    expressions="spark.range(1)",
    key='key="id"',
    keyed='.coalesce(1).selectExpr("monotonically_increasing_id() AS id", "*")',
)
IBIS: Final = Face(
    engine="ibis",
    title="In a warehouse",
    alias="ri",
    begin=("import ibis", "import reid_sql.ibis as ri"),
    fitted=(f"fitted = ri.{FIT}",),
    tables={
        "released": 'released = people.mutate(age=people["age"] // 10 * 10)',
        "next_month": 'next_month = people.filter(people["age"] > 20)',
        "purchases": f"purchases = ibis.memtable({PURCHASES})",
        "jobs": f"jobs = ibis.memtable({JOBS})",
        "saved": 'saved = ri.model_json("town")',
        "published": f"published = ri.safe_table(people, {PUBLISHED})",
    },
    expressions="",
)
CONNECTION: Final = Face(
    engine="duckdb",
    title="In Python",
    alias="reid_sql",
    begin=("import duckdb, reid_sql", "con = duckdb.connect()"),
    fitted=(f"fitted = reid_sql.{FIT.replace('(', '(con, ', 1)}",),
    tables={
        "released": 'released = con.sql("SELECT * REPLACE (age // 10 * 10 AS age) FROM people")',
        "next_month": 'next_month = con.sql("FROM people WHERE age > 20")',
        "purchases": f'purchases = con.sql("FROM (VALUES {PURCHASE_VALUES}) AS bought(person, item)")',
        "jobs": f'jobs = con.sql("FROM (VALUES {JOB_VALUES}) AS job_of(pid, job)")',
        "saved": 'saved = reid_sql.model_json(con, "town")',
        "published": f"published = reid_sql.safe_table(con, people, {PUBLISHED})",
    },
    expressions="",
    first="con",
    file="__init__.pyi",
)
FACES: Final = (CONNECTION, POLARS, SPARK, IBIS)
