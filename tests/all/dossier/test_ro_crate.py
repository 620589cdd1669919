"""The folder of a dossier conforms to RO-Crate 1.2, by the validator of its community (roc-validator)."""

import json
from email.message import Message
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import OpenerDirector
from urllib.response import addinfourl

import pytest

from reid_sql.cli import main
from tests.dossier.releases import release

pytestmark = pytest.mark.filterwarnings("ignore")  # of the validator's own libraries
services = pytest.importorskip("rocrate_validator.services", reason="no roc-validator")
CONTEXT = "https://w3id.org/ro/crate/1.2/context"
# The terms of the context that a dossier uses; the validator would read them from the network.
SCHEMA_ORG = (
    *(
        "CreativeWork",
        "Dataset",
        "Person",
        "about",
        "author",
        "contentSize",
        "datePublished",
        "description",
    ),
    *("encodingFormat", "hasPart", "jobTitle", "license", "name", "sha256"),
)
TERMS = {
    **{term: f"http://schema.org/{term}" for term in SCHEMA_ORG},
    "File": "http://schema.org/MediaObject",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
}


@pytest.fixture(autouse=True)
def context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer requests for the context without a network, whichever library asks."""
    import requests  # noqa: PLC0415 - comes with the validator

    body = json.dumps({"@context": TERMS}).encode()
    headers = Message()
    headers["Content-Type"] = "application/ld+json"

    def opened(_: OpenerDirector, url: Any, *_arguments: object, **_named: object) -> addinfourl:
        assert str(getattr(url, "full_url", url)) == CONTEXT
        return addinfourl(BytesIO(body), headers, CONTEXT, 200)

    def requested(_: object, _method: str, url: str, **_named: object) -> requests.Response:
        assert url == CONTEXT
        response = requests.Response()
        response.status_code, response.url, response._content = 200, url, body  # noqa: SLF001
        response.headers["Content-Type"] = "application/ld+json"
        return response

    monkeypatch.setattr(OpenerDirector, "open", opened)
    monkeypatch.setattr(requests.Session, "request", requested)


def issues(folder: Path) -> list[str]:
    """What breaks a rule that a crate must follow."""
    settings = {"rocrate_uri": str(folder), "profile_identifier": "ro-crate-1.2"}
    return [str(each.message) for each in services.validate(settings).get_issues()]


def test_the_folder_is_a_crate_and_a_broken_one_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    main(["dossier", str(release(tmp_path)), "--out", str(folder)])
    assert issues(folder) == []
    file = folder / "ro-crate-metadata.json"
    file.write_text(
        file.read_text(encoding="utf-8").replace('"datePublished"', '"dated"'), encoding="utf-8"
    )
    assert issues(folder)
