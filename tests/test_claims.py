"""Each sentence of the front pages that excludes something is listed with its proof in docs/claims.toml."""

import re
import tomllib
from pathlib import Path

PAGES = ("README.md", "docs/index.md", "docs/questions.md", "docs/serve.md", "docs/comparison.md")
EXCLUDES = re.compile(r"\b(none|only|no|nothing)\b", re.IGNORECASE)
CODE = re.compile(r"(?ms)^```.*?^```$|^    .*?$")
DAY = re.compile(r"20\d\d-\d\d(-\d\d)?")


def sentences(text: str) -> list[str]:
    """The sentences of a page, without blocks of code and headings; each cell of a table is apart."""
    prose = re.sub(r"(?m)^#.*$", "", CODE.sub("", text))
    parts = re.split(r"\n\s*\n|\n(?=[-|*] )|\n(?=\d+\. )| \| ", prose)
    joined = (" ".join(part.split()) for part in parts)
    return [each for part in joined for each in re.split(r"(?<=[.?!])\s+(?=[A-Z*`\[])", part)]


def claims(root: Path) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = tomllib.loads(
        (root / "docs" / "claims.toml").read_text(encoding="utf-8")
    )["claims"]
    return listed


def test_each_sentence_that_excludes_something_has_a_proof(root: Path) -> None:
    listed = {page: [each for each in claims(root) if each["page"] == page] for page in PAGES}
    found = set()
    for page in PAGES:
        for sentence in sentences((root / page).read_text(encoding="utf-8")):
            if EXCLUDES.search(sentence):
                of = [each["words"] for each in listed[page] if each["words"] in sentence]
                assert of, f"{page}: list the proof of «{sentence}» in docs/claims.toml"
                found |= {(page, words) for words in of}
    assert {(each["page"], each["words"]) for each in claims(root)} == found


def test_each_proof_is_there(root: Path) -> None:
    """A test, a page with a heading, a date on which it was tried, or the reason why it is no claim."""
    for each in claims(root):
        proofs = [each.get(kind, "") for kind in ("test", "see", "tried", "reason")]
        assert sum(map(bool, proofs)) == 1, each
        if name := each.get("test"):
            file, _, function = name.partition("::")
            assert f"def {function}(" in (root / file).read_text(encoding="utf-8"), name
        if page := each.get("see"):
            file, _, anchor = page.partition("#")
            headings = re.findall(r"(?m)^#+ (.*)$", (root / file).read_text(encoding="utf-8"))
            known = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
            assert anchor in known, page
        if day := each.get("tried"):
            assert DAY.fullmatch(day), each
