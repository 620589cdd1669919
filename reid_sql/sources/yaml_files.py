"""Documents in YAML or JSON, which other programs wrote."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reid_sql.errors import OutOfDomainError, UnavailableError


def read_mapping(path: Path, label: str, example: str) -> dict[Any, Any]:
    """Read a document of keys and values; YAML needs PyYAML. A refusal names it by the label."""
    is_json = path.suffix == ".json"
    if not is_json and find_spec("yaml") is None:
        raise UnavailableError(
            f"{label} must be read by PyYAML, which is not installed, got {path.name}; run pip install 'reid-sql[acro]'"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
        parsed = json.loads(text) if is_json else _parse_yaml(text)
    except OSError as error:
        raise UnavailableError(
            f"{label} must be a file that can be read, got {path.name}: {error.strerror}; pass the path of a YAML file"
        ) from None
    except (ValueError, RecursionError):  # of either format, and of what is no text
        parsed = None
    if not isinstance(parsed, dict):
        raise OutOfDomainError(
            f"{label} must be {'JSON' if is_json else 'YAML with a key and a value a line'}, got another text in {path.name}; write it like {example}"
        )
    return parsed


def _parse_yaml(text: str) -> Any:  # noqa: ANN401 - as it is written
    """Parse YAML to what JSON has: keys are texts, and nothing contains itself."""
    import yaml  # noqa: PLC0415 - optional

    try:
        return json.loads(json.dumps(yaml.safe_load(text), default=str))
    except (yaml.YAMLError, TypeError) as error:
        raise ValueError from error
