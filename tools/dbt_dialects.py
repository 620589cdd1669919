"""Write what the dbt package's tests are in the words of databases that cannot be run here.

tests/all/dbt/dialects/*.sql, by dbt's own Jinja, as if its adapter were that of the database: one query of
each dialect, and one of each kind in one dialect. With a folder, all queries of all dialects into the folder.
.venv/dbt/bin/python -m tools.dbt_dialects [folder]
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from dbt_common.clients.jinja import MacroReturn, get_environment

ROOT: Final = Path(__file__).parents[1]
MACROS: Final = ROOT / "reid_sql" / "dbt" / "macros"
FOLDER: Final = ROOT / "tests" / "all" / "dbt" / "dialects"
NAMES: Final = ("age", "name", "height", "select", "disease")


@dataclass(frozen=True)
class Dialect:
    """How dbt's adapter of a database looks for macros and quotes names, and what it calls types."""

    prefixes: Sequence[str]
    quote: str
    types: Sequence[str]  # of a whole number, a text, a float, a date


DIALECTS: Final[Mapping[str, Dialect]] = {
    "snowflake": Dialect(["snowflake"], '"{}"', ["number", "text", "float", "date"]),
    "bigquery": Dialect(["bigquery"], "`{}`", ["int64", "string", "float64", "date"]),
    "databricks": Dialect(["databricks", "spark"], "`{}`", ["int", "string", "double", "date"]),
    "redshift": Dialect(
        ["redshift", "postgres"],
        '"{}"',
        ["integer", "character varying", "double precision", "date"],
    ),
    "sqlserver": Dialect(["sqlserver"], '"{}"', ["int", "nvarchar", "float", "date"]),
    "trino": Dialect(["trino"], '"{}"', ["integer", "varchar", "double", "date"]),
    "athena": Dialect(["athena"], '"{}"', ["integer", "varchar", "double", "date"]),
    "clickhouse": Dialect(
        ["clickhouse"], "`{}`", ["Int32", "Nullable(String)", "Nullable(Float64)", "Date"]
    ),
    "mysql": Dialect(["mysql"], "`{}`", ["int", "varchar", "double", "date"]),
}
QI: Final = ["age", "name", "height", "select"]
ASKED: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "k_anonymity": ("k_anonymity", {}),
    "k_anonymity of records": ("k_anonymity", {"keep": "records", "nulls": "drop"}),
    "k_anonymity of counts": ("k_anonymity", {"keep": "counts"}),
    "records_at_risk": ("records_at_risk", {"at_most": 0.01}),
    "uniqueness": ("uniqueness", {}),
    "average_risk": ("average_risk", {}),
    "l_diversity distinct": ("l_diversity", {"sensitive": "disease"}),
    "l_diversity entropy": ("l_diversity", {"sensitive": "disease", "variant": "entropy"}),
    "l_diversity recursive": ("l_diversity", {"sensitive": "disease", "variant": "recursive"}),
    "t_closeness": ("t_closeness", {"sensitive": "disease"}),
    "alpha_k_anonymity": ("alpha_k_anonymity", {"sensitive": "disease"}),
    "journalist_risk": ("journalist_risk", {"population": "country"}),
    "no_worse": ("no_worse", {"before": "country"}),
}
STORED: Final = "k_anonymity"
STORED_DIALECT: Final = "snowflake"
STORED_KINDS: Final = ("l_diversity recursive", "t_closeness", "journalist_risk", "no_worse")


class Table:
    """A relation as dbt has it: an object that is told by its name."""

    database = schema = None

    def __init__(self, name: str) -> None:
        self.identifier = name

    def __str__(self) -> str:
        return self.identifier


def query(dialect: str, name: str) -> str:
    """The SQL of a test in the words of a dialect."""
    test, options = ASKED[name]
    tables = {
        key: Table(value) for key, value in options.items() if key in {"population", "before"}
    }
    package = package_of(dialect)
    asked = {"model": Table("people"), "quasi_identifiers": QI, **options, **tables}
    return re.sub(r"\n\s*\n", "\n", str(package[f"test_reid_{test}"](**asked))).strip()


class Package:
    """The package's macros, each called as dbt calls it, where the adapter is that of a dialect."""

    def __init__(self, dialect: str) -> None:
        self.macros: dict[str, Callable[..., Any]] = {}
        self.dialect = DIALECTS[dialect]
        context = {
            "reid_sql": self,
            "adapter": self,
            "config": lambda **_: "",
            "exceptions": SimpleNamespace(raise_compiler_error=_refuse),
            "execute": True,
            "flags": SimpleNamespace(WHICH="compile"),
            "modules": SimpleNamespace(re=re),
            "return": _return,
            "target": SimpleNamespace(type=self.dialect.prefixes[0]),
        }
        for path in sorted(MACROS.glob("*.sql")):
            template = get_environment().from_string(
                path.read_text(encoding="utf-8"), globals=context
            )
            self.macros |= {
                name.removeprefix("dbt_macro__"): macro
                for name, macro in vars(template.module).items()
                if name.startswith("dbt_macro__")
            }

    def __getitem__(self, name: str) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the macro has them
            try:
                return self.macros[name](*given, **named)
            except MacroReturn as returned:
                return returned.value

        return called

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self[name]

    def dispatch(self, name: str, _package: str) -> Callable[..., Any]:
        """The macro of the nearest adapter."""
        return next(
            self[f"{prefix}__{name}"]
            for prefix in [*self.dialect.prefixes, "default"]
            if f"{prefix}__{name}" in self.macros
        )

    def quote(self, name: str) -> str:
        """The name, quoted."""
        return self.dialect.quote.format(name)

    def get_relation(self, _database: object, _schema: object, identifier: str) -> Table:
        """The table, which is there."""
        return Table(identifier)

    def get_columns_in_relation(self, _relation: Table) -> list[SimpleNamespace]:
        """Its columns."""
        whole, text, real, day = self.dialect.types
        kinds = (whole, text, real, day, text)
        return [
            SimpleNamespace(name=name, dtype=kind) for name, kind in zip(NAMES, kinds, strict=True)
        ]


package_of: Final = cache(Package)


def _return(value: Any) -> None:  # noqa: ANN401 - whatever a macro gives
    raise MacroReturn(value)


def _refuse(sentence: str) -> None:
    raise ValueError(sentence)


def compiled(dialect: str, names: Iterable[str]) -> str:
    """The queries in the dialect, each under its name."""
    return "\n".join(f"-- {name}\n{query(dialect, name)}\n;\n" for name in names)


def stored(dialect: str) -> Sequence[str]:
    """The names of the queries that are stored of the dialect."""
    return [STORED, *(STORED_KINDS if dialect == STORED_DIALECT else ())]


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(exist_ok=True)
    for each in DIALECTS:
        chosen = ASKED if folder != FOLDER else stored(each)
        (folder / f"{each}.sql").write_text(compiled(each, chosen), encoding="utf-8")
