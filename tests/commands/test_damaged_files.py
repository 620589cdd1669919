"""A file that is not what its name says, and a folder, are refused by name, with what to do."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from reid_sql.sources.files import DATABASES, PACKED
from reid_sql.sources.reading import KINDS
from tests.cells import each_cell
from tests.processes import command

JUNK = np.random.default_rng(1).bytes(3000)
POLICY = """
name = "x"
[[tables]]
file = "{file}"
quasi_identifiers = ["age"]
[[tables.checks]]
measure = "k"
at_least = 2
"""


@each_cell(
    "ending", [*KINDS, *DATABASES, *(f"{kind}{packed}" for kind in KINDS for packed in PACKED)]
)
@pytest.mark.first(cells=15)
def test_a_file_of_noise_is_refused_in_one_sentence_that_names_it(
    tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"people{ending}"
    file.write_bytes(JUNK)
    (tmp_path / "policy.toml").write_text(POLICY.format(file=file.name), encoding="utf-8")
    for call in (["risk", str(file), "--qi", "age"], ["check", str(tmp_path / "policy.toml")]):
        done = command(*call)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert " must be " in done.stderr
        assert f"got '{file.name}'" in done.stderr.replace(f"{tmp_path}/", "")
        assert "; " in done.stderr


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_folder_is_refused_with_the_pattern_of_what_lies_in_it(
    tmp_path: Path, ending: str
) -> None:
    written = b"age\n1\n"
    (tmp_path / f"a{ending}").write_bytes(
        gzip.compress(written) if ending.endswith(".gz") else written
    )
    (tmp_path / "read.me").write_bytes(b"")
    refused = command("risk", str(tmp_path), "--qi", "age")
    pattern = f"{tmp_path}/*{ending}"
    assert f"pass --files '{pattern}' for the files of a folder" in refused.stderr
    assert command("risk", "--files", pattern, "--qi", "age").returncode == 0


@pytest.mark.parametrize("columns", [0, 1, 20, 1000])
def test_whatever_the_width_of_the_page_something_is_printed(columns: int) -> None:
    done = command("risk", "reid_sql/demo/people.csv", "--qi", "age,sex", columns=columns)
    assert done.returncode == 0
    letters = "".join(done.stdout.split())
    assert "3,000" in letters
    assert "ATRISK" in letters.replace("│", "")
