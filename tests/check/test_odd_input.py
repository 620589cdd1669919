"""Somebody who wants a false pass, a wrong figure or a leak, with odd policies, files and baselines."""

import json
from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.processes import command

K = '{measure = "k", at_least = 5}'


def written(folder: Path, checks: str = K, head: str = "", table: str = 'file = "t.csv"') -> Path:
    policy = folder / "p.toml"
    policy.write_text(
        f'{head}\n[[tables]]\n{table}\nquasi_identifiers = ["a"]\nchecks = [{checks}]',
        encoding="utf-8",
    )
    if not (folder / "t.csv").exists():
        (folder / "t.csv").write_text("a,s\n" + "1,x\n" * 30, encoding="utf-8")
    return policy


@each_cell("size", ["-1GB", "", "0", "0GB", "-0.5GB", "nan", "1 GB; SELECT 1"])
def test_a_limit_of_memory_is_a_size_and_never_none(tmp_path: Path, size: str) -> None:
    with pytest.raises(ReidError, match="memory-limit must be a size, got"):
        check(written(tmp_path, head=f'memory_limit = "{size}"'))
    done = command("risk", str(tmp_path / "t.csv"), "--qi", "a", f"--memory-limit={size}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_mask_of_two_would_hide_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        ReidError, match="must be 1, which masks nothing, or at least 3, got 2; a masked"
    ):
        check(written(tmp_path, head="mask_below = 2"))


@pytest.mark.parametrize("codec", ["utf-16", "latin-1"])
def test_a_policy_of_another_encoding_is_refused_by_its_rule(tmp_path: Path, codec: str) -> None:
    policy = written(tmp_path, head='name = "é"')
    policy.write_bytes(policy.read_text(encoding="utf-8").encode(codec))
    with pytest.raises(
        ReidError, match=r"policy must be written in UTF-8, got 'p.toml' with a byte that is not"
    ):
        check(policy)


def test_a_policy_may_begin_with_the_mark_of_an_editor(tmp_path: Path) -> None:
    policy = written(tmp_path)
    policy.write_bytes(b"\xef\xbb\xbf" + policy.read_bytes())
    assert check(policy)["verdict"] == "pass"


@pytest.mark.parametrize("name", ["", ".", "/", "t.csv\\u0000x"])
def test_a_file_without_a_name_is_none(tmp_path: Path, name: str) -> None:
    policy = written(tmp_path, table=f'file = "{name}"')
    done = command("check", str(policy), "--html", str(tmp_path / "r.html"))
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (2, 1, False)
    assert "tables[1].file must name a file, got" in done.stderr


def test_utf_16_without_its_mark_is_refused_by_its_rule(tmp_path: Path) -> None:
    policy = written(tmp_path, table='file = "t.csv"\nencoding = "utf-16"')
    (tmp_path / "t.csv").write_bytes(("a,s\n" + "1,x\n" * 30).encode("utf-16-be"))
    with pytest.raises(ReidError, match=r"must be written in utf-16 throughout, got 't.csv'"):
        check(policy)


def test_a_baseline_that_tells_a_key_twice_is_refused(tmp_path: Path) -> None:
    """A person reads the first of them, a reader of JSON takes the last."""
    policy = written(tmp_path, '{measure = "uniqueness", at_most = 0}')
    (tmp_path / "t.csv").write_text(
        "a,s\n" + "".join(f"{n},x\n" for n in range(40)), encoding="utf-8"
    )
    report = reid_sql.check(policy)
    report.json(tmp_path / "last.json")
    page = (tmp_path / "last.json").read_text(encoding="utf-8")
    assert json.loads(page) == report.page
    (tmp_path / "last.json").write_text(
        page.replace('"judged": 1.0,', '"judged": 0.5, "judged": 1.0,')
    )
    with pytest.raises(ReidError, match=r"got '.*last.json': a key occurs twice"):
        check(policy, tmp_path / "last.json")


def test_groups_that_reports_write_alike_are_not_judged_as_one(tmp_path: Path) -> None:
    """Times that differ by nanoseconds: the larger group would tell the smaller one's name and size."""
    times = "CASE WHEN i < 3 THEN '2020-01-01 00:00:00.000000001' ELSE '2020-01-01 00:00:00.000000002' END"
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT 1 AS a, ({times})::TIMESTAMP_NS AS t FROM range(500) r(i)) "
            f"TO '{tmp_path}/t.parquet'"
        )
    asked = f'{K}, {{measure = "k", at_least = 1, by = ["t"]}}'
    page = check(written(tmp_path, asked, table='file = "t.parquet"'))
    assert [each["verdict"] for each in page["checks"]] == ["pass", "not judged"]
    assert "groups by t must differ as reports write them" in page["checks"][1]["groups"][0]["why"]


@pytest.mark.parametrize("option", ["--json-report", "--html", "--junit", "--baseline"])
def test_an_option_with_an_empty_name_is_not_taken_for_none(tmp_path: Path, option: str) -> None:
    done = command("check", str(written(tmp_path)), option, "")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} must name a file, got ''" in done.stderr


def test_lines_that_end_unlike_are_refused_in_one_sentence(tmp_path: Path) -> None:
    policy = written(tmp_path)
    (tmp_path / "t.csv").write_bytes(b"a,s\n" + b"1,x\n" * 15 + b"1,x\r\n" * 15)
    done = command("check", str(policy))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "the file cannot be read as CSV: its line ends differ" in done.stderr
