"""What is measured, section by section."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Final

from benchmarks.speed import (
    column_sets,
    copula,
    gate,
    people,
    qar,
    rivals,
    sensitive,
    short,
    unicity,
    uniques,
)
from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.shapes import SHAPES, Shape

ROOT: Final = Path(__file__).parents[2]
# of the columns that an attacker may know
VALUES: Final = (90, 2, 5, 40, 16, 7, 9, 15, 6, 95, 2, 12)
FEW: Final = 3  # columns, as against ten
LIMITS: Final = ("2GB", "500MB")  # at ten million rows only the second makes class sizes spill
ADULT: Final = (
    *("age", "workclass", "education_num", "marital_status", "occupation"),
    *("relationship", "race", "sex", "hours_per_week", "native_country"),
)
MEASURES: Final = (
    *(
        ("l_diversity", f", variant := '{variant}'")
        for variant in ("distinct", "entropy", "recursive")
    ),
    *(
        ("t_closeness", ""),
        ("attribute_disclosure", ""),
        ("attribute_disclosure", ", measure := 'beta_likeness', variant := 'enhanced'"),
        ("attribute_disclosure", ", measure := 'delta_disclosure'"),
    ),
)
AUDITED: Final = ("made", "used", "holdout")
SIZES: Final = "SELECT count(*) AS records, sum(k) AS total, max(k) AS highest, count_if(k = 1) AS unique_records FROM"
HISTOGRAM: Final = """SELECT sum(records) AS records, sum(classes) AS classes,
    coalesce(sum(records) FILTER (class_size = 1), 0) AS unique_records FROM"""


@dataclass(frozen=True)
class Setup:
    """The folder with the generated tables, and the number of threads."""

    folder: Path
    threads: int

    def duckdb(self, sql: str, **settings: str) -> Job:
        """Ask the generated database."""
        database = str(self.folder / "people.duckdb")
        return Job(
            "in_duckdb",
            {
                "sql": sql,
                "settings": {"threads": str(self.threads)} | settings,
                "database": database,
            },
        )


def noise(setup: Setup) -> Iterator[Case]:
    """DuckDB's window against itself: what the other ratios are to be read by."""
    for shape in SHAPES:
        if shape.ties == "unique":
            same = setup.duckdb(_window(shape, "count(*) OVER (PARTITION BY {})"))
            yield Case("noise", shape.words, same, same, table=shape.table)


def class_size(setup: Setup) -> Iterator[Case]:
    """DuckDB's window against ours."""
    for shape in SHAPES:
        ours, rival = (
            _window(shape, "equivalence_class_size({})"),
            _window(shape, "count(*) OVER (PARTITION BY {})"),
        )
        target = 1.10 if shape.width == FEW else 0.6
        yield Case(
            "class_size",
            shape.words,
            setup.duckdb(ours),
            setup.duckdb(rival),
            target,
            memory=True,
            table=shape.table,
        )


def class_size_histogram(setup: Setup) -> Iterator[Case]:
    """The histogram against a bare double GROUP BY."""
    for shape in SHAPES:
        ours = f"{HISTOGRAM} class_size_histogram({shape.table}, {shape.columns})"
        yield Case(
            "histogram",
            shape.words,
            setup.duckdb(ours),
            setup.duckdb(_double(shape)),
            1.10,
            table=shape.table,
        )


def risk_summary(setup: Setup) -> Iterator[Case]:
    """The summary against a bare double GROUP BY."""
    for shape in SHAPES:
        ours, rival = _summary(shape.table, shape.columns), _double(shape)
        yield Case(
            "risk_summary",
            shape.words,
            setup.duckdb(ours),
            setup.duckdb(rival),
            1.10,
            table=shape.table,
        )


def entity(setup: Setup) -> Iterator[Case]:
    """The summary of people, by the smallest class of each, against the same by hand; ten rows a person."""
    for shape in SHAPES:
        if shape.kind == "integer" and shape.width == FEW:
            columns = ", ".join(shape.columns)
            people = (
                f"(SELECT (row_number() OVER ()) // 10 AS person, {columns} FROM {shape.table})"
            )
            prepare = f"CREATE TEMP TABLE visits AS FROM {people}"
            sizes = (
                f"SELECT person, count(*) OVER (PARTITION BY {columns}) AS n "
                f"FROM (SELECT DISTINCT person, {columns} FROM visits)"
            )
            least = f"SELECT person, min(n) AS k FROM ({sizes}) GROUP BY person"
            rival = f"SELECT count(*) AS records, count(*) FILTER (k = 1) AS unique_records FROM ({least})"
            call = f"risk_summary(visits, {shape.columns}, entity := 'person')"
            jobs = [
                setup.duckdb(sql) for sql in (f"SELECT records, unique_records FROM {call}", rival)
            ]
            ours, by_hand = (Job(job.module, {**job.arguments, "prepare": prepare}) for job in jobs)
            yield Case("entity", shape.words, ours, by_hand, 1.5, table=shape.table)


def polars(setup: Setup) -> Iterator[Case]:
    """Polars' window against ours, streaming."""
    for shape in SHAPES:
        read: dict[str, Any] = {
            "file": str(setup.folder / f"{shape.table}.parquet"),
            "columns": shape.columns,
        }
        ours, rival = (Job("in_polars", read | {"ours": mine}) for mine in (True, False))
        yield Case(
            "polars",
            shape.words,
            ours,
            rival,
            1.10 if shape.width == FEW else 0.5,
            table=shape.table,
        )


def spark(setup: Setup) -> Iterator[Case]:
    """Spark's bare GROUP BY against our histogram, its window against our class sizes; run once before."""
    skipped = None if find_spec("pyspark") else "no pyspark; pip install 'reid-sql[spark]'"
    for shape in (
        shape
        for shape in SHAPES
        if shape.width == FEW or (shape.kind, shape.ties) == ("integer", "tied")
    ):
        for question, target in (("histogram", 1.30), ("class size", None)):
            if question == "histogram" or (shape.width, shape.kind) == (FEW, "integer"):
                read = {
                    "file": str(setup.folder / f"{shape.table}.parquet"),
                    "columns": shape.columns,
                    "question": question,
                }
                ours, rival = (
                    Job("in_spark", read | {"threads": setup.threads, "ours": mine})
                    for mine in (True, False)
                )
                yield Case(
                    "spark",
                    f"{question}, {shape.words}",
                    ours,
                    rival,
                    target,
                    table=shape.table,
                    skipped=skipped,
                )


def memory_limit(setup: Setup) -> Iterator[Case]:
    """Little memory, and a folder to spill to."""
    shapes = [shape for shape in SHAPES if shape.width > FEW and shape.kind == "string"]
    for limit, shape in product(LIMITS, shapes):
        spilling = {"memory_limit": limit, "temp_directory": str(setup.folder / "spilled")}
        window = _window(shape, "equivalence_class_size({})")
        for name, sql in (
            ("class size", window),
            ("risk_summary", _summary(shape.table, shape.columns)),
        ):
            words = f"{limit}, {name}, {shape.words}"
            yield Case(
                "memory_limit",
                words,
                setup.duckdb(sql, **spilling),
                target="completes",
                table=shape.table,
            )


def out_of_core(setup: Setup) -> Iterator[Case]:
    """Ten times the rows by six columns under 4 GB: ours and the bare query spill."""
    shape = Shape(6, "huge", "unique")
    spilling = {"memory_limit": "4GB", "temp_directory": str(setup.folder / "spilled")}
    window = (
        _window(shape, "equivalence_class_size({})"),
        _window(shape, "count(*) OVER (PARTITION BY {})"),
    )
    summary = _summary(shape.table, shape.columns), _double(shape)
    for name, sides in (("class size", window), ("risk_summary", summary)):
        ours, rival = (setup.duckdb(sql, **spilling) for sql in sides)
        yield Case("out_of_core", f"{name}, {shape.words}", ours, rival, table=shape.table)


def wildcard(setup: Setup) -> Iterator[Case]:
    """Records with gaps that match anything."""
    for shape in (Shape(10, "integer", "unique"), Shape(10, "integer", "tied")):
        table = f"gaps_{shape.ties}"
        yield Case(
            "wildcard",
            shape.words,
            setup.duckdb(_summary(table, shape.columns, ", nulls := 'wildcard'")),
            table=table,
        )


def register(_: Setup) -> Iterator[Case]:
    """The cost of a start, beside that of importing DuckDB."""
    rival = Job("starting", {"code": "import duckdb"})
    for time in ("first", "again", "cursor"):
        yield Case("register", time, Job("registering", {"time": time}), rival)
    command = "import reid_sql.cli, sys; sys.argv = ['reid-sql', '--help']; reid_sql.cli.main()"
    yield Case("start", "reid-sql --help", Job("starting", {"code": command}), rival)
    faces = {"code": "import reid_sql.polars", "beyond": "import polars, numpy"}
    yield Case("start", "import reid_sql.polars", Job("starting", faces), rival)


def adult(setup: Setup) -> Iterator[Case]:
    """Real microdata in memory, against pandas."""
    file = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"), "adult.parquet")
    sizes = "count(*) AS classes, sum(k) AS records, max(k) AS highest, count_if(k = 1) AS unique_records"
    prepare = f"CREATE TEMP TABLE adult AS FROM '{file}'"
    sql = f"SELECT {sizes} FROM (SELECT class_size AS k FROM equivalence_classes(adult, {list(ADULT)}))"
    ours = Job(
        "in_duckdb", {"sql": sql, "settings": {"threads": str(setup.threads)}, "prepare": prepare}
    )
    rival = (
        Job("in_pandas", {"file": str(file), "columns": list(ADULT)})
        if find_spec("pandas")
        else None
    )
    skipped = (
        None if file.exists() else "no adult.parquet in the data folder; set REID_SQL_DATA to it"
    )
    yield Case("adult", "10 mixed, adult.parquet", ours, rival, skipped=skipped)


def audit(setup: Setup) -> Iterator[Case]:
    """All attacks on a table that was made of a third of adult's people, with another third as holdout."""
    file = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"), "adult.parquet")
    columns = [*ADULT[:5], *ADULT[6:8]]
    third = f"SELECT {', '.join(columns)} FROM '{file}' WHERE file_row_number % 3 ="
    tables = [f"CREATE TEMP TABLE {name} AS {third} {part}" for part, name in enumerate(AUDITED)]
    call = f"audit_synthetic(used, made, {columns}, holdout := holdout)"
    given = {"settings": {"threads": str(setup.threads)}, "prepare": "; ".join(tables)}
    ours = Job("in_duckdb", {"sql": f"SELECT 1 AS audited FROM {call} LIMIT 1", **given})
    skipped = (
        None if file.exists() else "no adult.parquet in the data folder; set REID_SQL_DATA to it"
    )
    yield Case("audit", "adult, a third in each table, 7 columns", ours, skipped=skipped)


def minimal_uniques(setup: Setup) -> Iterator[Case]:
    """What singles each record out."""
    return uniques.cases(setup.threads)


def sets_of_columns(setup: Setup) -> Iterator[Case]:
    """Every choice of columns of real tables, beside HPIValid."""
    return column_sets.cases(setup.threads)


def extreme_risk(setup: Setup) -> Iterator[Case]:
    """QaR against doing each of its counts anew."""
    return qar.cases(setup.threads)


def rectangles(setup: Setup) -> Iterator[Case]:
    """Cells of a Gaussian copula, against scipy."""
    return copula.cases(setup.threads)


def adversary(setup: Setup) -> Iterator[Case]:
    """All four risks of every record, against one bare GROUP BY for each set of columns that may be known."""
    settings = {"threads": str(setup.threads)}
    file = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"), "adult.parquet")
    known = [*ADULT, "education", "income"]
    skipped = (
        None if file.exists() else "no adult.parquet in the data folder; set REID_SQL_DATA to it"
    )
    tables: list[tuple[str, str, list[str], str | None]] = [
        (
            f"{rows:,} rows, {len(values)} columns",
            _drawn(rows, values),
            [f"c{place}" for place in range(len(values))],
            None,
        )
        for rows, values in ((100_000, VALUES), (1_000_000, VALUES[:8]))
    ]
    tables.append(
        ("adult.parquet, 12 columns", f"CREATE TEMP TABLE people AS FROM '{file}'", known, skipped)
    )
    for words, prepare, columns, reason in tables:
        groups = [{"columns": [column], "probability": 0.5} for column in columns]
        scenario = json.dumps({"population": 1e8, "groups": groups})
        # Each set has the same probability: its inverse times the prosecutor's risks is the number of records
        # alone in a set.
        sql = (
            f"SELECT round(sum(prosecutor) * {2 ** len(columns)}) AS alone "
            f"FROM adversary_risk(people, '{scenario}')"
        )
        ours = Job("in_duckdb", {"sql": sql, "settings": settings, "prepare": prepare})
        given = {"table": "people", "columns": columns, "settings": settings, "prepare": prepare}
        yield Case("adversary", words, ours, Job("group_bys", given), skipped=reason)


def disclosure(setup: Setup) -> Iterator[Case]:
    """Each measure on a sensitive column of few values, against a bare GROUP BY.

    The target is for 1,000,000 rows.
    """
    for shape in SHAPES:
        if shape.ties == "unique":
            sizes = f"SELECT count(*) AS n FROM {shape.table} GROUP BY {', '.join(shape.columns)}"
            rival = (
                "SELECT sum(n)::BIGINT AS records, count(*) AS classes, "
                f"min(n) AS k, 1 AS judged FROM ({sizes})"
            )
            for measure, options in MEASURES:
                columns = [column for column in shape.columns if column != "sex"]
                call = f"{measure}({shape.table}, {columns}, 'sex'{options})"
                ours = f"SELECT records, classes, k, (offending_records >= 0)::INTEGER AS judged FROM {call}"
                words = f"{measure}{options}, {shape.words}"
                yield Case(
                    "disclosure",
                    words,
                    setup.duckdb(ours),
                    setup.duckdb(rival.replace(", sex", "")),
                    5.0,
                    table=shape.table,
                )


def many_values(setup: Setup) -> Iterator[Case]:
    """Measures of a sensitive column of very many values."""
    return sensitive.cases(setup.folder, setup.threads)


def release_gate(setup: Setup) -> Iterator[Case]:
    """A policy of ten checks."""
    return gate.cases(setup.folder, setup.threads)


def few_records(setup: Setup) -> Iterator[Case]:
    """What a call costs where there is next to nothing to count."""
    return short.cases(setup.threads)


def model_of_people(setup: Setup) -> Iterator[Case]:
    """Fits, scores and the one answer under the model of people, against the copula's."""
    return people.cases(setup.threads)


def known_rows(setup: Setup) -> Iterator[Case]:
    """Unicity, against a self-join."""
    return unicity.cases(setup.threads)


def others(setup: Setup) -> Iterator[Case]:
    """The programs that people use today."""
    return rivals.cases(setup.threads)


def _drawn(rows: int, values: tuple[int, ...]) -> str:
    columns = (
        f"least(floor(-ln(random()) * {max(1.0, n / 6)}), {n - 1})::INTEGER AS c{place}"
        for place, n in enumerate(values)
    )
    return f"SELECT setseed(0.5); CREATE TEMP TABLE people AS SELECT {', '.join(columns)} FROM range({rows})"


def _window(shape: Shape, window: str) -> str:
    return f"{SIZES} (SELECT {window.format(', '.join(shape.columns))} AS k FROM {shape.table})"


def _double(shape: Shape) -> str:
    sizes = f"SELECT count(*) AS n FROM {shape.table} GROUP BY {', '.join(shape.columns)}"
    double = f"SELECT n, count(*) AS c FROM ({sizes}) GROUP BY n"
    return f"{HISTOGRAM} (SELECT n AS class_size, c AS classes, n * c AS records FROM ({double}))"


def _summary(table: str, columns: list[str], options: str = "") -> str:
    return f"SELECT records, classes, unique_records FROM risk_summary({table}, {columns}{options})"


SECTIONS: Final[dict[str, Callable[[Setup], Iterator[Case]]]] = {
    "noise": noise,
    "class_size": class_size,
    "histogram": class_size_histogram,
    "risk_summary": risk_summary,
    "entity": entity,
    "polars": polars,
    "spark": spark,
    "memory_limit": memory_limit,
    "out_of_core": out_of_core,
    "wildcard": wildcard,
    "register": register,
    "adult": adult,
    "audit": audit,
    "qar": extreme_risk,
    "uniques": minimal_uniques,
    "column_sets": sets_of_columns,
    "copula": rectangles,
    "adversary": adversary,
    "disclosure": disclosure,
    "sensitive": many_values,
    "gate": release_gate,
    "few_records": few_records,
    "people": model_of_people,
    "unicity": known_rows,
    "rivals": others,
}
