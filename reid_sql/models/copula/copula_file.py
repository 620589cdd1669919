"""A copula as a JSON file, and as one line of a summary."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Final, TypeVar

import numpy as np

from reid_sql.errors import OutOfDomainError, ReidError, UnknownNameError, name_error, suggestion
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.copula.calibration import MAX_LOG_FACTOR
from reid_sql.models.copula.gaussian_copula import METHODS, GaussianCopula
from reid_sql.models.copula.marginals import FAMILIES, Marginal
from reid_sql.models.marginals.column import describe_few_records, join_status
from reid_sql.models.numerics.rectangle import check_correlation
from reid_sql.parameters import Integers

# A fitted copula as text: plain JSON with a version and a checksum, to save, review and read back.
# Reading trusts nothing: every part is checked before a model is made, and nothing in the text is ever run.

FORMAT: Final = "reid-sql gaussian copula"
VERSION: Final = 1
MAX_CHARACTERS: Final = 1 << 28  # characters
MAX_SEED: Final = 2**32 - 1
Model = TypeVar("Model")
STATUS_EARLIER_VERSION: Final = (
    "old_calibration: the calibration is of an earlier version, so fit the model again"
)


@dataclass(frozen=True)
class SavedModels:
    """Lines of a table of saved models: the name of each, and its JSON."""

    line: Integers
    model: Sequence[str | None]
    json: Sequence[str | None]


def copula_to_json(model: GaussianCopula) -> str:
    """Write the model as JSON: the same text for the same model.

    It contains the values of each column with their shares and the correlations, and no record.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "method": model.method,
        "records": model.records,
        "seed": model.seed,
        "calibration": model.calibration,
        "status": model.status,
        "columns": [
            {
                "name": name,
                "ordered": marginal.ordered,
                "family": marginal.family,
                "values": list(marginal.values),
                "shares": marginal.shares.tolist(),
                "unseen": marginal.unseen,
            }
            for name, marginal in zip(model.columns, model.marginals, strict=True)
        ],
        "correlation": model.correlation.tolist(),
    }
    return content_to_text(content)


def read_model(
    text: str, kind: str, versions: Sequence[int], build: Callable[[dict[str, Any]], Model]
) -> Model:
    """Read a saved model of this format; refuses another version, and a text that was changed."""
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise OutOfDomainError(
            f"a saved model must be a text of at most {MAX_CHARACTERS} characters, got another; save it again"
        )
    try:
        content = json.loads(text, parse_constant=refuse_constant)
        if isinstance(content, str):  # the text as a JSON string, in quotes
            content = json.loads(content, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise OutOfDomainError(
            f"a saved model must be JSON, got a text that is not ({error}); save the model again"
        ) from None
    if not isinstance(content, dict) or content.get("format") != kind:
        raise OutOfDomainError(
            f"a saved model must say that its format is '{kind}', got other JSON; pass what model_json wrote"
        )
    if content.get("version") not in versions:
        expected, saved = " or ".join(map(str, versions)), str(content.get("version"))[:40]
        raise OutOfDomainError(
            f"a saved model must be of version {expected}, got {saved}; fit it again with this version of reid-sql"
        )
    if content.pop("sha256", None) != compute_checksum(content):
        raise OutOfDomainError(
            "a saved model must carry its own checksum, got another: the text was changed; save it again"
        )
    try:
        return build(content)
    except ReidError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise OutOfDomainError(
            f"a saved model must have all its parts, got one that is missing or of another kind ({name_error(error)}); save the model again"
        ) from None


def copula_from_json(text: str) -> GaussianCopula:
    """Read a model; refuses a text that is none, of another version, or changed since it was written."""
    return read_model(text, FORMAT, (VERSION,), _read_copula)


def model_to_text(saved: SavedModels, name: str) -> str:
    """Give the last text of this name among the lines; refuses a name that none has."""
    lines = [place for place, model in enumerate(saved.model) if model == name]
    if not lines:
        # A table of something else has no names of models.
        named = zip(saved.model, saved.json, strict=True)
        saved_names = sorted(
            {str(model) for model, text in named if text and text.startswith('{"format":"reid-sql')}
        )
        raise UnknownNameError(
            f"name must be a model of the table, got '{name}'; {suggestion(name, saved_names, 'models')}"
        )
    return saved.json[lines[-1]] or ""


def content_to_text(content: Mapping[str, Any]) -> str:
    """Spell the JSON, with its checksum."""
    whole = {**content, "sha256": compute_checksum(content)}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def compute_checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content, whatever the order of its keys."""
    plain = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def refuse_constant(name: str) -> float:
    """Refuse NaN and the infinities."""
    raise ValueError(f"{name} is no number of JSON")


def _read_copula(content: Mapping[str, Any]) -> GaussianCopula:
    columns = content["columns"]
    names = tuple(_require_type(column["name"], str) for column in columns)
    if not names or len(set(names)) < len(names):
        raise ValueError("columns")
    marginals = tuple(_read_marginal(column) for column in columns)
    correlation = check_correlation(content["correlation"], len(names))
    records = _require_type(content["records"], int)
    seed = _require_type(content["seed"], int)
    method = _require_type(content["method"], str)
    calibration = _require_type(content["calibration"], float)
    if (
        records < 1
        or not 0 <= seed <= MAX_SEED
        or method not in METHODS
        or not exp(-MAX_LOG_FACTOR) <= calibration <= exp(MAX_LOG_FACTOR)
    ):
        raise ValueError("records, seed, method or calibration")
    status = _require_type(
        content.get("status", OK if calibration == 1 else STATUS_EARLIER_VERSION), str
    )
    return GaussianCopula(names, marginals, correlation, records, method, seed, calibration, status)


def _read_marginal(column: Mapping[str, Any]) -> Marginal:
    values = tuple(
        None if value is None else _require_type(value, str) for value in column["values"]
    )
    shares = np.array([_read_share(share) for share in column["shares"]])
    family, unseen = _require_type(column["family"], str), _read_share(column["unseen"])
    if (
        not values
        or len(set(values)) < len(values)
        or len(values) != len(shares)
        or family not in FAMILIES
    ):
        raise ValueError("values")
    if abs(float(shares.sum()) - 1) > 1e-6:  # noqa: PLR2004 - rounding
        raise ValueError("shares")
    return Marginal(values, shares, unseen, _require_type(column["ordered"], bool), family)


def _read_share(value: Any) -> float:  # noqa: ANN401 - any JSON value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("share")
    return float(value)


def _require_type(value: Any, kind: type) -> Any:  # noqa: ANN401 - any JSON value
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} expected")
    return value


@dataclass(frozen=True)
class ModelSummary:
    """A model by its name: what it was fitted to, and how."""

    model: str
    records: int
    columns: list[str]
    ordered: list[str]
    values: int  # of all columns together
    strongest: float | None  # correlation of two columns; None where a model has none
    marginals: str
    method: str
    calibration: float  # how many times more often rare records repeat than the copula expects
    status: str


def summarize_copula(name: str, model: GaussianCopula) -> ModelSummary:
    """Describe the model."""
    pairs = model.correlation[np.triu_indices(len(model.columns), 1)]
    families = [marginal.family for marginal in model.marginals]
    counted = ", ".join(f"{families.count(family)} {family}" for family in sorted(set(families)))
    ordered = [
        column
        for column, marginal in zip(model.columns, model.marginals, strict=True)
        if marginal.ordered
    ]
    values = sum(len(marginal.values) for marginal in model.marginals)
    strongest = float(np.abs(pairs).max(initial=0.0))
    return ModelSummary(
        name,
        model.records,
        list(model.columns),
        ordered,
        values,
        strongest,
        counted,
        model.method,
        model.calibration,
        join_status(*describe_few_records(model.records), model.status),
    )
