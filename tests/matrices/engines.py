"""The engines that there are, each asked a declared function by the names of its arguments."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any, Final, Protocol

import duckdb
import polars as pl

from reid_sql.engines.public_api import GROUND, engines
from reid_sql.function import Function
from reid_sql.parameters import MODEL
from reid_sql.parameters.outputs import REQUIRED
from tests.engines.asking import listed, quoted, refusal, spelled
from tests.tables import by_duckdb
from tests.warehouses import connected, put

Answers = list[dict[str, Any]]
# a frame for each table, and for a function of records `tbl` and `columns`
Given = Mapping[str, Any]
WAREHOUSES: Final = {"ibis on duckdb": "duckdb", "ibis on postgres": "postgres"}
ENGINES: Final = [name for each in engines() for name in (WAREHOUSES if each == "ibis" else [each])]


class Engine(Protocol):
    name: str

    def ask(self, declared: Function, given: Given) -> Answers | str:
        """The rows of the answer, or the sentence of a refusal; records are told by their column `row`."""


class Sql:
    """DuckDB, asked in SQL."""

    name = GROUND

    def ask(self, declared: Function, given: Given) -> Answers | str:
        frames = {name: value for name, value in given.items() if isinstance(value, pl.DataFrame)}
        for name, value in given.items():
            frames |= {f"{name}_{place}": each for place, each in enumerate(frames_in(value))}
        try:
            return by_duckdb(self.sql(declared, given), **frames)
        except duckdb.Error as error:
            return refusal(error)

    def sql(self, declared: Function, given: Given) -> str:
        if declared.answer.of_rows:
            own = [
                _cell(given[p.name])
                for p in declared.parameters
                if p.name in given and p.name != "columns"
            ]
            cells = [*own, *map(quoted, given.get("columns", ()))]
            return f"SELECT {quoted('row')}, {declared.name}({', '.join(cells)}) AS answer FROM tbl"
        cells = [_cell(given[p.name], p.name) for p in declared.parameters if p.default is REQUIRED]
        required = {p.name for p in declared.parameters if p.default is REQUIRED}
        options = [
            f"{name} := {_cell(given[name], name)}" for name in given if name not in required
        ]
        return f"FROM {declared.name}({', '.join([*cells, *options])})"


def _cell(value: Any, name: str = "") -> str:
    if isinstance(value, pl.DataFrame):
        return quoted(name)
    if isinstance(value, Column):
        return quoted(value)
    if frames_in(value):
        return listed([f"{name}_{place}" for place, _ in enumerate(value)])
    if isinstance(value, list):
        return f"[{', '.join(map(_cell, value))}]"
    return spelled((value,))


def frames_in(value: Any) -> list[pl.DataFrame]:
    """The frames of a list of tables; of anything else none."""
    return (
        [each for each in value if isinstance(each, pl.DataFrame)]
        if isinstance(value, list)
        else []
    )


class Column(str):
    """The name of a column of numbers, among the arguments of a function of numbers."""

    __slots__ = ()


class Frames:
    """A dataframe engine, asked through its face; its adapter takes tables and gives them back."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.face = importlib.import_module(f"reid_sql.{name}")
        self.adapter = importlib.import_module(f"reid_sql.engines.{name}.adapter")
        # by the parameter and the frame, each made once
        self.tables: dict[tuple[str, str], Any] = {}

    def ask(self, declared: Function, given: Given) -> Answers | str:
        try:
            found = self._answer(getattr(self.face, declared.name), declared, self._taken(given))
            return self.adapter.collected(found, "an answer").to_pylist()  # type: ignore[no-any-return]
        except Exception as error:  # noqa: BLE001 - Spark's executors raise what Spark wraps
            return refusal(error)

    def _taken(self, given: Given) -> dict[str, Any]:
        return {
            name: [self._table(name, each) for each in frames_in(value)]
            if frames_in(value)
            else self._table(name, value)
            if isinstance(value, pl.DataFrame)
            else value
            for name, value in given.items()
        }

    def _table(self, parameter: str, frame: pl.DataFrame) -> Any:
        key = (parameter, _identity(frame))
        if key not in self.tables:
            self.tables[key] = self._new_table(frame)
        return self.tables[key]

    def _new_table(self, frame: pl.DataFrame) -> Any:
        return self.adapter.framed(frame.to_arrow())

    def _answer(self, call: Any, declared: Function, given: dict[str, Any]) -> Any:
        if not declared.answer.of_rows:
            return call(**given)
        frame, columns = given.pop("tbl"), given.pop("columns", [])
        if "tbl" in inspect.signature(call).parameters:
            return call(frame, *given.values(), *columns, name="answer").select("row", "answer")
        return frame.select("row", call(*given.values(), *columns).alias("answer"))


class Warehouse(Frames):
    """Ibis, asked about tables of a database."""

    def __init__(self, database: str, folder: str) -> None:
        super().__init__("ibis")
        self.connection = connected(database, folder)

    def _new_table(self, frame: pl.DataFrame) -> Any:
        return put(self.connection, frame)


def engine_named(name: str, folder: str = "") -> Engine:
    if name in WAREHOUSES:
        return Warehouse(WAREHOUSES[name], folder)
    return Sql() if name == GROUND else Frames(name)


class Remembered:
    """An engine that computes each answer once in a process, but for answers from named models."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.engine = engine
        self.answers: dict[tuple[Any, ...], Answers | str] = {}

    def ask(self, declared: Function, given: Given) -> Answers | str:
        if asks_models(declared):
            return self.engine.ask(declared, given)
        question = (declared.name, *((name, _identity(value)) for name, value in given.items()))
        if question not in self.answers:
            self.answers[question] = self.engine.ask(declared, given)
        return self.answers[question]


def asks_models(function: Function) -> bool:
    return bool(function.models) or any(p.domain is MODEL for p in function.parameters)


def _identity(value: Any) -> str:
    if frames := frames_in(value):
        return repr([_identity(each) for each in frames])
    return repr((value.schema, value.rows()) if isinstance(value, pl.DataFrame) else value)


def absent(function: Function, engine: Engine, answers: Answers | str) -> bool:
    """Whether the engine lacks the function, and says so as declared."""
    reason = function.absence(engine.name)
    if reason:
        assert isinstance(answers, str)
        assert answers.startswith(f"{function.call} must be called on ")
        assert f": {reason}; " in answers
    return bool(reason)
