"""What is asked of the dbt package on each adapter, and the project that asks it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, Final

import yaml

AGED, NAMED, TWO = ["age", "sex", "postcode"], ["name", "height", "nick"], ["name", "height"]
LISTED: Final = "SELECT {qi}, class_size FROM equivalence_classes({table}, {list}) WHERE "
DROPPED: Final = LISTED.replace("{list}", "{list}, nulls := 'drop'")
DISCLOSED: Final = "SELECT {qi}, class_size, value FROM disclosing_classes({table}, {list}, {sensitive}, '{measure}', "
PROFILES: Final = {
    "town": {
        "target": "duckdb",
        "outputs": {
            "duckdb": {"type": "duckdb", "path": "town.duckdb", "threads": 2},
            "postgres": {
                "type": "postgres",
                "host": "{{ env_var('REID_SQL_SOCKET') }}",
                "port": 5432,
                "user": "reid",
                "password": "none",
                "dbname": "postgres",
                "schema": "public",
                "threads": 2,
            },
        },
    }
}


@dataclass(frozen=True)
class Case:
    """A test by its name, of a table; what it keeps, as SQL of reid-sql's own functions, or nothing."""

    name: str
    test: str
    table: str
    qi: Sequence[str]
    kept: str
    more: Mapping[str, Any]
    where: str | None = None

    @property
    def as_yaml(self) -> dict[str, Any]:
        """The test as a project's YAML has it."""
        config = {} if self.where is None else {"where": self.where}
        arguments = {"quasi_identifiers": list(self.qi), **self.more}
        return {
            f"reid_sql.reid_{self.test}": {
                "name": self.name,
                "arguments": arguments,
                "config": config,
            }
        }

    @property
    def expected(self) -> str:
        """The SQL of what it keeps."""
        texts = ", ".join("'" + name.lower().replace("'", "''") + "'" for name in self.qi)
        return self.kept.format(
            qi=", ".join(quoted(name) for name in self.qi),
            table=self.table if self.where is None else "low",
            list=f"[{texts}]",
            sensitive=f"'{self.more.get('sensitive')}'",
            measure=self.test,
        )


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


ALPHA: Final = {"sensitive": "disease", "alpha": 0.4, "k": 8}
RECURSIVE: Final = {"sensitive": "disease", "l": 3, "c": 2, "variant": "recursive", "nulls": "drop"}
CASES: Final = [
    Case("k", "k_anonymity", "people", AGED, LISTED + "class_size < 5", {}),
    Case("k_odd", "k_anonymity", "odd", NAMED, LISTED + "class_size < 4", {"k": 4}),
    Case(
        "k_say",
        "k_anonymity",
        "odd",
        ['say "a"', "select"],
        LISTED + "class_size < 90",
        {"k": "90"},
    ),
    Case("k_drop", "k_anonymity", "odd", NAMED, DROPPED + "class_size < 5", {"nulls": "drop"}),
    Case(
        "k_where", "k_anonymity", "odd", NAMED, LISTED + "class_size < 12", {"k": 12}, "height < 1"
    ),
    Case(
        "k_view",
        "k_anonymity",
        "everybody",
        NAMED,
        LISTED + "class_size < 12",
        {"k": 12},
        "height < 1",
    ),
    Case("k_case", "k_anonymity", "odd", ["NAME", "Nick"], LISTED + "class_size < 20", {"k": 20}),
    Case("k_met", "k_anonymity", "odd", ["nick"], LISTED + "class_size < 50", {"k": 50}),
    Case(
        "risk",
        "records_at_risk",
        "odd",
        NAMED,
        LISTED + "1 / class_size > 0.25",
        {"threshold": 0.25},
    ),
    Case("risk_met", "records_at_risk", "odd", NAMED, LISTED + "false", {"at_most": 0.9}),
    Case(
        "unique",
        "uniqueness",
        "odd",
        [*NAMED, "select"],
        LISTED + "class_size = 1",
        {"at_most": 0.01},
    ),
    Case("unique_met", "uniqueness", "odd", ["nick"], LISTED + "class_size = 1", {}),
    Case(
        "l",
        "l_diversity",
        "people",
        AGED,
        DISCLOSED + "threshold := 2)",
        {"sensitive": "diagnosis"},
    ),
    Case(
        "l_odd",
        "l_diversity",
        "odd",
        TWO,
        DISCLOSED + "threshold := 5)",
        {"sensitive": "disease", "l": 5},
    ),
    Case(
        "l_entropy",
        "l_diversity",
        "odd",
        TWO,
        DISCLOSED + "threshold := 4, variant := 'entropy')",
        {"sensitive": "disease", "l": 4, "variant": "entropy"},
    ),
    Case(
        "l_recursive",
        "l_diversity",
        "odd",
        TWO,
        DISCLOSED + "threshold := 3, c := 2, variant := 'recursive', nulls := 'drop')",
        RECURSIVE,
    ),
    Case(
        "t",
        "t_closeness",
        "odd",
        ["name"],
        DISCLOSED + "threshold := 0.1)",
        {"sensitive": "disease", "t": 0.1},
    ),
    Case(
        "t_drop",
        "t_closeness",
        "odd",
        ["name"],
        DISCLOSED + "threshold := 0.05, nulls := 'drop')",
        {"sensitive": "height", "t": 0.05, "nulls": "drop"},
    ),
    Case("alpha", "alpha_k_anonymity", "odd", TWO, DISCLOSED + "threshold := 0.4, k := 8)", ALPHA),
]
POPULATION: Final = {"population": "{{ source('town', 'odd') }}"}
UNCOVERED: Final = {"population": "{{ source('town', 'small') }}"}
BEFORE: Final = {"before": "{{ source('town', 'odd') }}"}
# Beside classes: others that are judged by their figures, and how.
FIGURES: Final[dict[str, tuple[str, str, list[str], dict[str, Any]]]] = {
    "counts": ("k_anonymity", "odd", NAMED, {"k": 4, "keep": "counts"}),
    "records": ("k_anonymity", "odd", NAMED, {"k": 4, "keep": "records"}),
    "l_records": ("l_diversity", "odd", TWO, {"sensitive": "disease", "l": 5, "keep": "records"}),
    "average": ("average_risk", "odd", NAMED, {"at_most": 0.1}),
    "average_met": ("average_risk", "odd", ["nick"], {"at_most": 0.1}),
    "journalist": ("journalist_risk", "small", NAMED, {"threshold": 0.25, **POPULATION}),
    "journalist_records": (
        "journalist_risk",
        "small",
        NAMED,
        {"threshold": 0.25, "keep": "records", **POPULATION},
    ),
    "uncovered": ("journalist_risk", "odd", NAMED, {"threshold": 0.25, **UNCOVERED}),
    "worse": ("no_worse", "small", NAMED, {"mask_below": 1, **BEFORE}),
    "worse_masked": ("no_worse", "small", NAMED, {"measures": "uniqueness", **BEFORE}),
    "no_worse": ("no_worse", "odd", NAMED, BEFORE),
}
TRIED: Final = "pass how many records a class must contain at the least, such as 5"
REFUSED: Final[list[tuple[str, list[str], dict[str, Any], str]]] = [
    ("nobody", ["name"], {}, "the table must contain at least one record, got 0"),
    ("missing", ["name"], {}, "missing"),
    (
        "odd",
        ["nmae"],
        {},
        "quasi-identifiers must be columns of the table, got 'nmae'; did you mean 'name'?",
    ),
    (
        "odd",
        ["zip"],
        {},
        "got 'zip'; the columns are name, height, say \"a\", nick, select, disease",
    ),
    ("odd", ["name", "Name"], {}, "quasi-identifiers must be distinct, got 'Name' twice"),
    ("odd", [], {}, "quasi-identifiers must name 1 to 64 columns, got 0"),
    *(
        (
            "odd",
            ["name"],
            {"k": k},
            f"k must be a whole number of records from 1 to 1e+15, got {k}; {TRIED}",
        )
        for k in (0, -1, 2.5, "five", nan, None)
    ),
    ("odd", ["name"], {"nulls": "dorp"}, "got 'dorp'; did you mean 'drop'?"),
    (
        "odd",
        ["name"],
        {"keep": "all"},
        "keep must be one of 'classes', 'records', 'counts', got 'all'",
    ),
    ("odd", ["name"], {"mask_below": 0}, "mask_below must be a whole number from 1 to 1000, got 0"),
    ("odd", ["name"], {"nulls": "wildcard"}, "must be"),  # the adapter, or the plugin
]


def asked() -> list[dict[str, Any]]:
    """The tables with their tests."""
    tables = ("people", "odd", "small", "nobody", "missing", "everybody")
    found: dict[str, list[dict[str, Any]]] = {table: [] for table in tables}
    for case in CASES:
        found[case.table].append(case.as_yaml)
    for name, (test, table, qi, more) in FIGURES.items():
        found[table].append(Case(name, test, table, qi, "", more).as_yaml)
    for place, (table, qi, more, _) in enumerate(REFUSED):
        found[table].append(Case(f"refused_{place}", "k_anonymity", table, qi, "", more).as_yaml)
    return [{"name": table, "data_tests": tests} for table, tests in found.items()]


def write_project(folder: Path) -> None:
    """Write a project whose sources are the tables, each with its tests, and a model, a view of one."""
    *tables, everybody = asked()
    sources = [{"name": "town", "schema": "{{ target.schema }}", "tables": tables}]
    project = {"name": "town", "version": "1.0", "config-version": 2, "profile": "town"}
    pages = {
        "dbt_project.yml": project | {"data_tests": {"+store_failures": True}},
        "packages.yml": {"packages": [{"local": "{{ env_var('REID_SQL_DBT_PACKAGE') }}"}]},
        "profiles.yml": PROFILES,
        "models/town.yml": {"sources": sources, "models": [everybody]},
    }
    (folder / "models").mkdir()
    for name, page in pages.items():
        (folder / name).write_text(yaml.safe_dump(page), encoding="utf-8")
    (folder / "models" / "everybody.sql").write_text("select * from {{ source('town', 'odd') }}")
