"""Build the documentation site from the pages of the repository.

python -m tools.site [FOLDER]

It copies the pages to build/ and adapts their links. The build is strict: it fails for a link to nowhere, for
a page that tools/site.toml does not name, and for a name without a page.
"""

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from reid_sql.commands.functions import group_by_tier
from reid_sql_udfs import declared

ROOT: Final = Path(__file__).parents[1]
BUILD: Final = ROOT / "build"
BESIDE: Final = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")
FENCE: Final = re.compile(r"^(```\w+) (?:file|of)=.*$", re.MULTILINE)
SESSION: Final = re.compile(r"^```python\n(>>> .*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND: Final = re.compile(r"^```console\n\$ (.*)\n", re.MULTILINE)


def places(root: Path) -> dict[str, str]:
    """Where each page of the repository stands on the site."""
    docs = {path.relative_to(root).as_posix(): path for path in (root / "docs").rglob("*.md")}
    scripts = (path.name for path in (root / "sql_examples").glob("*.sql"))
    return {
        **{place: place.removeprefix("docs/") for place in docs},
        **{
            f"sql_examples/{name}": f"sql_examples/{name.removesuffix('.sql')}.md"
            for name in scripts
        },
        **{name: name for name in BESIDE},
        "README.md": "index.md",
    }


def lay_out(root: Path, folder: Path) -> None:
    """Write every page, its links turned, with the files that it links to, and what the builder asks for."""
    known = places(root)
    for place, page in known.items():
        if place == "README.md":
            continue
        text = (root / place).read_text(encoding="utf-8")
        text = (
            _script(Path(page).stem, text)
            if place.endswith(".sql")
            else turned(text, place, known, root, folder)
        )
        _write(folder / "pages" / page, split_sessions(text, once=page.startswith("functions/")))
    for name in ("iframe-worker.js", "charts.css"):
        _copy(ROOT / "tools" / name, folder / "pages" / name)
    settings = (root / "tools" / "site.toml").read_text(encoding="utf-8")
    _write(folder / "zensical.toml", with_folders(settings, known.values()))


TIER: Final = "functions_"  # a folder of nav for each tier of functions


def with_folders(settings: str, pages: Iterable[str]) -> str:
    """The settings with each folder's pages in its place; refuses a page that stands there not once."""
    for folder in set(re.findall(r'"(\w+/)"', settings)):
        inside = sorted(
            page for page in pages if page.startswith(folder) and not page.endswith("/index.md")
        )
        if folder.startswith(TIER):
            names = group_by_tier(declared())[folder.removeprefix(TIER).removesuffix("/")]
            inside = [page for name in names if (page := f"functions/{name}.md") in {*pages}]
        settings = settings.replace(f'"{folder}"', ", ".join(f'"{page}"' for page in inside))
    nav = tomllib.loads(settings)["project"]["nav"]
    named = [page for section in nav for names in section.values() for page in names]
    for page in sorted({*pages, *named}):
        if named.count(page) != 1 or page not in pages:
            times = named.count(page) if page in pages else "the name of none"
            rule = f"each page must stand once in nav of tools/site.toml, got {times} of '{page}'"
            raise LookupError(
                f"{rule}; give a page its place in one section, and no place to what is none"
            )
    return settings


def turned(text: str, place: str, known: Mapping[str, str], root: Path, folder: Path) -> str:
    """The page with its links as they are on the site; a file is taken along, a folder is not linked."""
    here = posixpath.dirname(known[place])

    def turn(link: re.Match[str]) -> str:
        image, words, path, anchor = link[1], link[2], link[3], link[4] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
        if target in known:
            return f"{image}[{words}]({posixpath.relpath(known[target], here)}{anchor})"
        if (root / target).is_dir():
            return words
        if (root / target).is_file():
            there = target.removeprefix("docs/")
            _copy(root / target, folder / "pages" / there)
            return f"{image}[{words}]({posixpath.relpath(there, here)})"
        raise LookupError(f"a link of a page must lead somewhere, got '{path}' in {place}; mend it")

    return FENCE.sub(r"\1", LINK.sub(turn, text))


def split_sessions(text: str, *, once: bool = False) -> str:
    r"""Write each Python session and command as code that can be pasted, followed by what it prints.

    With `once`, only the first session shows what it prints: on the page of a function, every engine answers
    the same.

    >>> print(split_sessions("```python\n>>> 1 + 1\n2\n```"))
    ```python
    1 + 1
    ```
    <BLANKLINE>
    ```text
    2
    ```
    """
    sessions = 0

    def split(session: re.Match[str]) -> str:
        nonlocal sessions
        sessions += 1
        lines = session[1].splitlines()
        code = [
            line[4:]
            for line in lines
            if line.startswith((">>> ", "... ")) or line in {">>>", "..."}
        ]
        printed = [line for line in lines if line and not line.startswith((">>>", "..."))]
        blocks = [("python", code)]
        if printed and not (once and sessions > 1):
            blocks.append(("text", printed))
        return "\n\n".join("\n".join([f"```{kind}", *block, "```"]) for kind, block in blocks)

    return COMMAND.sub(r"```sh\n\1\n```\n\n```text\n", SESSION.sub(split, text))


def _script(name: str, text: str) -> str:
    return f"# {name[3:].replace('_', ' ').capitalize()}\n\n```sql\n{text}```\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(source: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)


def build(root: Path = ROOT, folder: Path = BUILD) -> int:
    """Lay the pages out and build the site, strictly; what the builder prints is for its reader."""
    for name in ("pages", "site"):
        shutil.rmtree(folder / name, ignore_errors=True)
    lay_out(root, folder)
    call = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(call, cwd=folder, env=environment, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Build into the folder that is named, or into build/."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.site", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", nargs="?", type=Path, default=BUILD, help="instead of build/")
    return build(folder=parser.parse_args(arguments).folder.resolve())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
