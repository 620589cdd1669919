"""Write what is made from the declared functions, and the results of what is run.

python -m tools.generate
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.accuracy.papers_page import stored_page
from tests import examples
from tools import documents, figures, pages, pictures, rivals, schemas, stubs
from tools.documents import DOCUMENTS, PAGES, ROOT
from tools.faces import FACES
from tools.figures import FIGURES
from tools.pictures import PICTURES

SCRIPTS: Final = tuple(sorted((ROOT / "sql_examples").glob("*.sql")))


def script(path: Path) -> str:
    """Give the script with the results that it has."""
    return examples.renew(path.read_text(encoding="utf-8"))


# In this order: a document shows statements of the scripts.
GENERATED: Final[Mapping[Path, Callable[[], str]]] = {
    **{path: partial(script, path) for path in SCRIPTS},
    **{face.stub: partial(stubs.stub, face) for face in FACES},
    ROOT / "reid_sql" / "check" / "policy.schema.json": schemas.policy,
    **{path: partial(pictures.picture, path) for path in PICTURES},
    **{path: partial(figures.figure, path) for path in FIGURES},
    rivals.PAGE: rivals.page,
    **{path: partial(documents.renewed, path) for path in DOCUMENTS},
    **{path: partial(pages.page, function) for path, function in PAGES.items()},
    ROOT / "docs" / "papers.md": stored_page,
}

if __name__ == "__main__":
    for path, made in GENERATED.items():
        path.write_text(made(), encoding="utf-8")
