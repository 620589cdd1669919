"""What needs Python: bodies, readers of documents and models as vectorised Arrow functions."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from reid_sql import registry
from reid_sql.domains import Document, Domain, Number, Numbers, Texts
from reid_sql.engines.arrow import drawn_kernel, kernel, model_kernel, table_kernel
from reid_sql.engines.duckdb.macros import MODEL_COLUMNS, WILDCARD, documents, needs_python
from reid_sql.errors import ReidError
from reid_sql.function import Answer, Function
from reid_sql.models.classes.wildcard import wildcard_class_sizes

Bound = tuple[Callable[..., Any], list[Any], str]  # the callable, its arguments' types, its answer's type


def python_functions(functions: Iterable[Function]) -> dict[str, Bound]:
    """Callable, argument types and answer type of everything that is Python, by its name in DuckDB."""
    model = "STRUCT(refusal VARCHAR, columns VARCHAR[], places BIGINT[])"
    found: dict[str, Bound] = {
        WILDCARD: (_wildcard_class_sizes, ["BIGINT[][]", "BIGINT[][]", "BIGINT[]"], "BIGINT[]"),
        MODEL_COLUMNS: (_model_columns, ["VARCHAR", "VARCHAR"], model),
    }
    for declared in functions:
        for document in documents(declared.parameters):
            answer = "STRUCT(refusal VARCHAR, text VARCHAR)"
            found[f"reid_read_{document.kind}"] = (_reader(document), ["VARCHAR", "BOOLEAN"], answer)
        if needs_python(declared):
            found[f"reid_body_{declared.name}"] = _body(declared)
    return found


def _body(declared: Function) -> Bound:
    """Bind a body by the shape of its answer."""
    own = [_sql_type(parameter.domain) for parameter in declared.own_parameters]
    fields = ", ".join(f"{column} {kind}" for column, kind in declared.columns.items())
    if declared.answer is Answer.VALUE:
        return kernel(declared), ["DOUBLE"] * len(declared.parameters), "DOUBLE"
    if declared.answer is Answer.DRAWN:
        return drawn_kernel(declared), ["VARCHAR", "VARCHAR", *own, "BIGINT"], "VARCHAR[]"
    if declared.answer is Answer.SCORE:
        types = ["VARCHAR[]", "VARCHAR", "VARCHAR", *own]
        return model_kernel(declared), types, "STRUCT(refusal VARCHAR, answer DOUBLE)"
    if declared.answer is Answer.BESIDE:
        types = ["VARCHAR[]", "BIGINT", "VARCHAR", "VARCHAR", *own]
        return model_kernel(declared), types, f"STRUCT(refusal VARCHAR, answer STRUCT({fields}))"
    reduction = declared.reduction
    listed = "" if reduction and reduction.whole else "[]"
    inputs = [f"{kind}{listed}" for kind in reduction.inputs.values()] if reduction else []
    answer = f"STRUCT(refusal VARCHAR, answers STRUCT({fields})[])"
    return table_kernel(declared), ["VARCHAR"] * declared.models + inputs + own, answer


def _sql_type(domain: Domain) -> str:
    if isinstance(domain, Numbers):
        return "DOUBLE[]"
    if isinstance(domain, Texts):
        return "VARCHAR[]"
    if isinstance(domain, Number):
        return "BIGINT" if domain.whole else "DOUBLE"
    return "VARCHAR"


def _model_columns(databases: pa.Array, models: pa.Array) -> pa.Array:
    """Columns of a model by name, and their numbers in the order of its integration; or the refusal."""
    found: list[dict[str, Any]] = []
    for database, name in zip(databases.to_pylist(), models.to_pylist(), strict=True):
        try:
            with registry.within(database):
                model = registry.known(name)
            found.append({"columns": model.columns, "places": [place + 1 for place in model.order]})
        except ReidError as error:  # the engine would wrap the sentence in its own
            found.append({"refusal": str(error)})
    kind = [("refusal", pa.string()), ("columns", pa.list_(pa.string())), ("places", pa.list_(pa.int64()))]
    return pa.array(found, type=pa.struct(kind))


def _reader(document: Document) -> Callable[..., pa.Array]:
    """Read documents, one a row, from files where the connection may: the text, or the refusal.

    The refusal is in its own words.
    """

    def read(sources: pa.Array, files: pa.Array) -> pa.Array:
        pairs = zip(sources.to_pylist(), files.to_pylist(), strict=True)
        return pa.array(
            [_text(document.read if allowed else document.sealed, source) for source, allowed in pairs]
        )

    return read


def _text(read: Callable[[Any], str], source: str | None) -> dict[str, str | None]:
    try:
        return {"refusal": None, "text": read(source)}
    except ReidError as error:  # the engine would wrap the sentence in its own
        return {"refusal": str(error), "text": None}


def _wildcard_class_sizes(codes: pa.Array, other_codes: pa.Array, other_counts: pa.Array) -> pa.Array:
    """Count matches of records as lists of codes, one list of records a row."""
    answers = [
        wildcard_class_sizes(
            _matrix(mine.values), _matrix(others.values), others_counts.values.to_numpy(zero_copy_only=False)
        ).tolist()
        if mine.is_valid and others.is_valid
        else [0] * (len(mine.values) if mine.is_valid else 0)
        for mine, others, others_counts in zip(codes, other_codes, other_counts, strict=True)
    ]
    return pa.array(answers, type=pa.list_(pa.int64()))


def _matrix(records: pa.ListArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    flat: np.ndarray[Any, np.dtype[np.int64]] = records.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(records), -1)
