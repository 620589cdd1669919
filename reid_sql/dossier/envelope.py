"""The folder of a dossier: an RO-Crate 1.2 of one HTML and one JSON file, its verification and signature."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.baseline import broken_report
from reid_sql.check.masking import ReportPage, settings
from reid_sql.check.report import broken_seal, to_json, write_report
from reid_sql.check.sentences import verdicts_by_recipient
from reid_sql.dossier.content import FORMAT
from reid_sql.dossier.sections import render_dossier
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError, UnknownNameError
from reid_sql.parameters.document import parsed

METADATA: Final = "ro-crate-metadata.json"
JSON_FILE: Final = "dossier.json"
HTML_FILE: Final = "dossier.html"
SIGNATURE: Final = f"{METADATA}.sig"  # where ssh-keygen writes it
FILES: Final[Mapping[str, tuple[str, str]]] = {
    HTML_FILE: ("The dossier, to read and to print", "text/html"),
    JSON_FILE: ("The dossier, for programs", "application/json"),
}
SPECIFICATION: Final = "https://w3id.org/ro/crate/1.2"
NAMESPACE: Final = "reid-sql-dossier"  # of signatures, so that none of another purpose counts
NO_LICENSE: Final = "No terms are given; ask the assessor before you pass it on."


def check_folder(folder: Path) -> None:
    """Refuse, before anything is counted, a folder of other things."""
    written = {*FILES, METADATA, SIGNATURE}
    if folder.exists() and not folder.is_dir():
        raise OutOfDomainError(f"--out must be a folder, got the file '{folder}'; name a folder")
    other = next((each.name for each in folder.glob("*") if each.name not in written), None)
    if other is not None:
        raise OutOfDomainError(
            f"--out must be a new folder or one of a dossier, got '{folder}' with '{other}'; name a new folder"
        )
    if not folder.parent.is_dir():
        raise UnknownNameError(
            f"--out must be in an existing folder, got '{folder}'; make the folder '{folder.parent}' first"
        )


def write_folder(folder: Path, dossier: ReportPage) -> None:
    """Write the files, then the envelope with their hashes; a signature of other content goes away."""
    folder.mkdir(exist_ok=True)
    (folder / SIGNATURE).unlink(missing_ok=True)
    texts = {HTML_FILE: render_dossier(dossier), JSON_FILE: to_json(dossier)}
    for name, text in texts.items():
        write_report(folder / name, text)
    write_report(folder / METADATA, to_json(_crate(dossier, texts)))


def _crate(dossier: ReportPage, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the RO-Crate: the files and who assessed, by the terms of schema.org.

    The program is named in words: as an entity it would need a page on the web.
    """
    assessment, report = dossier["assessment"], dossier["report"]
    contents = {name: text.encode() for name, text in texts.items()}
    files = [
        {
            "@id": name,
            "@type": "File",
            "name": FILES[name][0],
            "description": f"Written by reid-sql {__version__} from one run of its release gate.",
            "encodingFormat": FILES[name][1],
            "contentSize": str(len(content)),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in contents.items()
    ]
    verdicts = "; ".join(
        f"{name}: {verdict}" for name, verdict in verdicts_by_recipient(report).items()
    )
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Dossier: {report['policy']['name']}",
        "description": f"Risk of re-identification, measured by reid-sql check. Verdict for {verdicts}.",
        "datePublished": assessment["date"],
        "license": assessment["license"] or NO_LICENSE,
        "author": {"@id": "#assessor"},
        "hasPart": [{"@id": name} for name in texts],
    }
    person = {
        "@id": "#assessor",
        "@type": "Person",
        "name": assessment["assessor"],
        "jobTitle": assessment["role"],
    }
    descriptor = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": "./"},
    }
    person = {key: value for key, value in person.items() if value}
    return {"@context": f"{SPECIFICATION}/context", "@graph": [descriptor, root, *files, person]}


# Verification: hashes and digests match, verdicts follow from figures and limits, the page from the JSON.


def read_dossier(folder: Path) -> ReportPage:
    """Read the dossier of a folder; refuse one whose digests or verdicts do not match."""
    wrong = next(find_inconsistencies(folder), "")
    if wrong:
        raise OutOfDomainError(
            f"the dossier must be consistent, got one where {wrong}; write it again"
        )
    return _load(folder)


def find_inconsistencies(folder: Path) -> Iterator[str]:
    """Yield what does not match in the folder: nothing if it is consistent."""
    for name in (METADATA, *FILES):
        if not (folder / name).is_file():
            yield f"the file {name} is missing"
            return
    try:
        crate = parsed("dossier", ".json", (folder / METADATA).read_text(encoding="utf-8"))
        hashes = {each["@id"]: each.get("sha256") for each in crate["@graph"]}
        dossier = _load(folder)
        yield from (
            f"{name} is not the file that the envelope names"
            for name in FILES
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != hashes.get(name)
        )
        yield from _find_inconsistent_content(folder, dossier)
    except (ReidError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        yield f"a file is not as reid-sql dossier writes it ({FORMAT})"


def _load(folder: Path) -> ReportPage:
    return ReportPage(
        settings(json.loads((folder / JSON_FILE).read_text(encoding="utf-8")))  # type: ignore[arg-type]
    )


def _find_inconsistent_content(folder: Path, dossier: ReportPage) -> Iterator[str]:
    """Yield what does not follow within the dossier, and whether the page shows another one."""
    if dossier["format"] != FORMAT:
        yield f"the format is not {FORMAT}"
        return
    wrong = broken_seal(dossier)
    if wrong:
        yield f"of the dossier, {wrong}"
    wrong = broken_report(dossier["report"])
    if wrong:
        yield f"in the report, {wrong}"
    # another version has another page
    same = dossier["report"]["versions"]["reid-sql"] == __version__
    if same and (folder / HTML_FILE).read_text(encoding="utf-8") != render_dossier(dossier):
        yield f"{HTML_FILE} does not show {JSON_FILE}"


# Signatures: detached, by OpenSSH.


def sign_folder(folder: Path, key: Path) -> None:
    """Sign the envelope, which has the hashes of the files, with a key of OpenSSH."""
    if not key.is_file():
        raise UnknownNameError(
            f"--sign must name an existing key of OpenSSH, got '{key}'; write its path"
        )
    done = _run_openssh(["sign", "-q", "-f", str(key), "-n", NAMESPACE, str(folder / METADATA)])
    if done.returncode or not (folder / SIGNATURE).is_file():
        raise OutOfDomainError(
            f"--sign must name a key that can sign, got '{key}', with which ssh-keygen -Y sign failed; "
            "try it by hand"
        )


def find_signer(folder: Path, signers: Path) -> str | None:
    """Return who of the allowed signers signed the envelope; None if nobody of them did."""
    if not signers.is_file():
        raise UnknownNameError(
            f"--signature must name a file of allowed signers, got '{signers}'; "
            "write one as man ssh-keygen describes"
        )
    signature = folder / SIGNATURE
    if not signature.is_file():
        return None
    files = ["-s", str(signature), "-f", str(signers)]
    named = (
        _run_openssh(["find-principals", *files, "-n", NAMESPACE]).stdout.decode().split("\n")[0]
    )
    if not named:
        return None
    arguments = ["verify", *files, "-n", NAMESPACE, "-I", named]
    done = _run_openssh(arguments, (folder / METADATA).read_bytes())
    return named if done.returncode == 0 else None


def _run_openssh(
    arguments: list[str], content: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    program = shutil.which("ssh-keygen")
    if program is None:
        raise UnavailableError(
            "a signature must have ssh-keygen of OpenSSH, got none; install OpenSSH"
        )
    return subprocess.run(  # noqa: S603 - the program of the path, with files that the user names
        [program, "-Y", *arguments], input=content, capture_output=True, check=False
    )
