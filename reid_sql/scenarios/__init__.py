"""Read a scenario: a file with its tables next to it, a shipped one, JSON text or a mapping."""

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.attacker import scenario as model
from reid_sql.models.attacker.scenario import Scenario, parse_scenario
from reid_sql.parameters import Document
from reid_sql.parameters.document import read_document, read_pairs

FOLDER: Final = Path(str(resources.files("reid_sql") / "scenarios"))
SHIPPED: Final = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def scenario(source: Any, folder: Path | None = None) -> Scenario:  # noqa: ANN401 - what is none is refused
    """Read a scenario: a mapping, JSON text, a path of a TOML or JSON file, or the name of a shipped one.

    Refuses what a scenario refuses, and tables of probabilities that are not there.

    >>> scenario("adult_worst_case").groups[0].probability
    1.0
    """
    if isinstance(source, Scenario):
        return source
    document, folder_ = read_document("scenario", source, folder, SHIPPED)
    return parse_scenario(document, lambda where, file: read_pairs(where, file, folder_))


def _read(source: Any) -> str:  # noqa: ANN401 - as above
    return scenario(source).text()


def _sealed(source: Any) -> str:  # noqa: ANN401 - as above
    """Read a scenario without looking at any file but the shipped ones."""
    if isinstance(source, str) and source in SHIPPED:
        return _read(source)
    if isinstance(source, str) and not source.lstrip().startswith("{"):
        rule = (
            "scenario must be JSON text, a STRUCT or a shipped name where "
            "enable_external_access is off, got a path"
        )
        raise OutOfDomainError(f"{rule}; the shipped ones are {', '.join(SHIPPED)}")
    return model.scenario(source).text()


SCENARIO: Final = Document("scenario", _read, _sealed)
ScenarioText = Annotated[str, SCENARIO]
