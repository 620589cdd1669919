"""Write what is made from the declared functions, and the results of what is run.

python -m tools.generate
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests import examples
from tools import documents, schemas, stubs
from tools.documents import DOCUMENTS, ROOT

SCRIPTS: Final = tuple(sorted((ROOT / "sql_examples").glob("*.sql")))


def script(path: Path) -> str:
    """Give the script with the results that it has."""
    return examples.renew(path.read_text(encoding="utf-8"))


# In this order: a document shows statements of the scripts.
GENERATED: Final[Mapping[Path, Callable[[], str]]] = {
    **{path: partial(script, path) for path in SCRIPTS},
    ROOT / "reid_sql" / "__init__.pyi": stubs.package_stub,
    ROOT / "reid_sql" / "polars.pyi": stubs.polars_stub,
    ROOT / "reid_sql" / "spark.pyi": stubs.spark_stub,
    ROOT / "reid_sql" / "ibis.pyi": stubs.ibis_stub,
    ROOT / "reid_sql" / "check" / "policy" / "policy.schema.json": schemas.policy,
    **{path: partial(documents.renewed, path) for path in DOCUMENTS},
}

if __name__ == "__main__":
    for path, made in GENERATED.items():
        path.write_text(made(), encoding="utf-8")
