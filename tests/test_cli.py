import json
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import pytest

from tests.cells import each_cell
from tests.processes import ROOT, command, environment, process

PEOPLE = "reid_sql/demo/people.csv"


def test_risk_prints_summary_class_sizes_who_stands_out_and_a_verdict() -> None:
    done = process("risk", PEOPLE, "--qi", "age,sex,postcode", "--stand-out", "3")
    assert done.returncode == 0
    for words in (
        "1,051",
        "35.0 %",
        "3–4",
        "█",
        "Most exposed records",
        "04103",
        "AT RISK: 1,051 of 3,000 people",
    ):
        assert words in done.stdout
    assert done.stderr == ""


def test_risk_prints_json_for_machines() -> None:
    page = json.loads(
        command("risk", PEOPLE, "--qi", "age,sex", "--json", "--stand-out", "1").stdout
    )
    assert page["summary"]["records"] == 3000 == sum(row["records"] for row in page["histogram"])
    assert page["stand_out"] == [{"class_size": 1, "age": "94", "sex": "M"}]


def test_profile_leaves_out_what_identifies_people_by_itself(tmp_path: Path) -> None:
    lines = [f"p{n:03},{n % 40},{'FM'[n % 2]},x" for n in range(120)]
    (tmp_path / "t.csv").write_text(
        "\n".join(["patient_id,age,sex,town", *lines]), encoding="utf-8"
    )
    _, *named = command("profile", str(tmp_path / "t.csv")).stdout.splitlines()[:3]
    for share, line in zip(("5 %", "50 %"), named, strict=True):
        start = f"Smallest set of columns that singles out {share} of the records: "
        assert line == f"{start}none (no set of at most 2 columns reaches {share})."
    (tmp_path / "t.csv").write_text(
        "patient_id\n" + "\n".join(f"p{n}" for n in range(30)), encoding="utf-8"
    )
    assert "Smallest set" not in command("profile", str(tmp_path / "t.csv")).stdout


@pytest.mark.parametrize("last", [3, 40, 400])
def test_profile_names_the_sets_that_a_search_of_each_share_finds(
    tmp_path: Path, last: int
) -> None:
    """The set of 5 % reaches 50 %, or not; the shares are counted by hand."""
    rows = [(n % 17, n * 7 % 23, n * n % 11, n % last) for n in range(800)]
    (tmp_path / "t.csv").write_text(
        "\n".join(["a,b,c,d", *(",".join(map(str, r)) for r in rows)]), encoding="utf-8"
    )
    _, *named = command("profile", str(tmp_path / "t.csv")).stdout.splitlines()[:3]
    for share, line in zip((0.05, 0.5), named, strict=True):
        reached: list[tuple[float, str]] = []
        for size in range(1, 5):
            for places in combinations(range(4), size):
                counts = Counter(tuple(row[place] for place in places) for row in rows)
                unique = sum(n == 1 for n in counts.values()) / len(rows)
                reached += [(unique, ", ".join("abcd"[place] for place in places))] * (
                    unique >= share
                )
            if reached:
                break
        best = max(reached)[0] if reached else 0
        if not reached:
            assert "none (no set of at most 4 columns" in line
            continue
        assert any(f"records: {name} (" in line for unique, name in reached if unique == best), (
            line,
            reached,
        )
        assert ("as small" in line) == (len(reached) > 1)


def test_profile_says_where_sets_of_columns_are_not_searched(tmp_path: Path) -> None:
    header = ",".join(f"c{place}" for place in range(70))
    rows = [",".join(str(row // (1 + place % 3) % 5) for place in range(70)) for row in range(40)]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    _, *named = command("profile", str(tmp_path / "t.csv")).stdout.splitlines()[:3]
    assert all(": not searched (a search takes at most 64 columns" in line for line in named), named


def test_risk_says_where_a_quasi_identifier_holds_marks_for_missing_values(tmp_path: Path) -> None:
    lines = "".join(f"{'?' if number < 9 else number % 4},F\n" for number in range(40))
    (tmp_path / "people.csv").write_text(f"zip,sex\n{lines}", encoding="utf-8")
    reported = (
        "9 records have '?' in zip, which looks like a missing-value code and counts as a value"
    )
    asked = ("risk", str(tmp_path / "people.csv"), "--qi", "zip,sex")
    assert reported in " ".join(command(*asked).stdout.replace("│", " ").split())
    assert json.loads(command(*asked, "--json").stdout)["sentinels"] == {"zip": reported}


def test_a_table_within_the_threshold_is_said_to_be() -> None:
    assert (
        "WITHIN THE THRESHOLD: everybody shares their sex with"
        in command("risk", PEOPLE, "--qi", "sex").stdout
    )


def test_validation_shows_each_methods_error_and_draws_it(tmp_path: Path) -> None:
    call = ["risk", PEOPLE, "--qi", "sex,postcode", "--methods", "bound,pyc", "--validate"]
    shown = command(*call, "0.5,0.1").stdout
    assert "error of Ξ" in shown
    assert "Errors of samples of this table may differ for a larger population" in shown
    rows = json.loads(command(*call, "0.1", "--json", "--plot", str(tmp_path / "truth.svg")).stdout)
    assert {row["method"] for row in rows} == {"bound", "pyc"}
    assert {row["fraction"] for row in rows} == {0.1}
    assert (tmp_path / "truth.svg").read_bytes().startswith(b"<svg")


NEIGHBOURS = """
name = "neighbours"
population = 100_000
assumptions = ["They see who lives where."]
[[groups]]
columns = ["sex", "postcode"]
probability = 0.5
[[groups]]
columns = ["age"]
probability = 0.25
"""


def test_an_attacker_of_a_scenario_is_measured_beside_the_worst_case(tmp_path: Path) -> None:
    file = tmp_path / "neighbours.toml"
    file.write_text(NEIGHBOURS, encoding="utf-8")
    call = ["risk", PEOPLE, "--scenario", str(file), "--threshold", "0.1"]
    shown = command(*call, "--sensitivity").stdout
    for words in (
        "Risk against the attacker of: neighbours",
        "Assumed: They see who lives where.",
        "median reduction",
        "AT RISK: ",
    ):
        assert words in shown
    page = json.loads(command(*call, "--sensitivity", "--json").stdout)
    assert page["scenario"]["name"] == "neighbours"
    assert [row["measure"] for row in page["summary"]] == [
        "prosecutor",
        "journalist",
        "marketer",
        "overall",
    ]
    assert page["summary"][0]["worst_average"] == pytest.approx(1051 / 3000)
    assert len(page["sensitivity"]) == 81


def test_who_is_unique_in_the_population_is_known_by_a_file_of_it_or_by_a_model(
    tmp_path: Path,
) -> None:
    file = tmp_path / "neighbours.toml"
    file.write_text(NEIGHBOURS, encoding="utf-8")
    call = ["risk", PEOPLE, "--scenario", str(file), "--json"]
    looked_up = json.loads(command(*call, "--population-file", PEOPLE).stdout)["summary"]
    # the population is the table itself
    assert looked_up[1] | {"measure": "prosecutor"} == looked_up[0]
    fitted = json.loads(command(*call, "--model", "people").stdout)["summary"]
    assert "model_uniqueness: " in fitted[1]["status"]
    assert 0 < fitted[1]["average"] < looked_up[1]["average"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "house.duckdb") as con:
        con.execute(
            'CREATE TABLE people AS FROM range(4) t(a); CREATE TABLE "odd ""name""" AS SELECT 1 AS a'
        )
        con.execute(
            f"COPY people TO '{tmp_path}/people.parquet'; COPY people TO '{tmp_path}/people.json'"
        )
        con.execute(
            f"COPY (SELECT * FROM (VALUES ('01234'), ('1234')) t(zip)) TO '{tmp_path}/zip codes.csv.gz'"
        )
        con.execute("CREATE VIEW nobody AS FROM people WHERE a < 0")
    (tmp_path / "empty.csv").write_text("a,b\n")
    (tmp_path / "notes.doc").write_text("a")
    return tmp_path


@pytest.mark.parametrize(
    "file",
    [
        "people.parquet",
        "people.json",
        "house.duckdb --table people",
        'house.duckdb --table "main.people"',
    ],
)
def test_every_kind_of_file(files: Path, file: str) -> None:
    name, *rest = file.replace('"', "").split()
    done = command("risk", str(files / name), *rest, "--qi", "a", "--json")
    assert json.loads(done.stdout)["summary"]["classes"] == 4


def test_text_stays_text_so_that_leading_zeros_tell_people_apart(files: Path) -> None:
    done = command("risk", str(files / "zip codes.csv.gz"), "--qi", "zip", "--json")
    assert json.loads(done.stdout)["summary"]["classes"] == 2


def test_a_database_is_opened_read_only_and_odd_names_are_names(files: Path) -> None:
    before = (files / "house.duckdb").read_bytes()
    done = command(
        "risk", str(files / "house.duckdb"), "--table", 'odd "name"', "--qi", "a", "--json"
    )
    assert json.loads(done.stdout)["summary"]["k"] == 1
    assert (files / "house.duckdb").read_bytes() == before


REFUSED = {
    "audit": "the following arguments are required: FILE; see reid-sql audit --help",
    f"risk {PEOPLE} --scenario nowhere.toml": (
        "scenario must be an existing file, JSON text or a shipped name, got 'nowhere"
    ),
    f"risk {PEOPLE} --scenario adult_worst_case": (
        "columns of the scenario must be columns of the table, got 'workclass'"
    ),
    "risk nowhere.csv --qi a": "FILE must be an existing file, got 'nowhere.csv'",
    "risk reid_sql/demo/peple.csv --qi a": "did you mean 'people.csv'?",
    "risk {files}/notes.doc --qi a": "FILE must be of a kind that can be read",
    f"risk {PEOPLE} --qi age,sxe": (
        "quasi-identifiers must be columns of the table, got 'sxe'; did you mean 'sex'?"
    ),
    f"risk {PEOPLE} --qi age,age": (
        "quasi-identifiers must be distinct, got 'age' twice; name each column once"
    ),
    f"risk {PEOPLE} --qi ,": "quasi-identifiers must name 1 to 64 columns, got 0",
    f"risk {PEOPLE} --qi age --threshold 7": "threshold must be a risk between 0 and 1, got 7",
    f"risk {PEOPLE} --qi age --threshold much": "threshold must be a number, got 'much'",
    f"risk {PEOPLE} --qi age --nulls dorp": "got 'dorp'; did you mean 'drop'?",
    f"risk {PEOPLE} --qi age --thresold 1": "unrecognized arguments: --thresold",
    f"risk {PEOPLE}": "leave out what nobody outside can know of: --qi age,sex,postcode,marital_status",
    f"risk {PEOPLE} --qi age --memory-limit lots": (
        "--memory-limit must be a size, got 'lots'; write it like 2GB"
    ),
    "risk {files}/empty.csv --qi a": "the table must contain at least one record, got 0",
    "risk {files}/house.duckdb --qi a --table peopel": (
        "a table of the database, got 'peopel'; did you mean 'people'?"
    ),
    "risk {files}/house.duckdb --qi a": "--table must name the table of the database to measure, got none",
    f"compare {PEOPLE} {{files}}/house.duckdb --qi age": (
        "--other-table must name the table of the database to measure, got none"
    ),
    "risk {files}/house.duckdb --qi a --table nobody": "the table must contain at least one record, got 0",
    f"risk {PEOPLE} --qi age --population 10": (
        "populations must be at least the 3,000 records of the sample, got 10"
    ),
    f"risk {PEOPLE} --qi age --population many": "--population must be a number, got 'many'",
    f"risk {PEOPLE} --qi age --population 1e6 --k 0": "k must be a whole number of people from 2 to 1e+6, got 0",
    f"risk {PEOPLE} --qi age --population 1e6 --plot x.pdf": (
        "--plot must be an SVG file, got 'x.pdf'"
    ),
    "rsik x": "did you mean 'risk'?",
    "query nowhere.sql": "FILE.sql must be an existing file, got 'nowhere.sql'",
}


@each_cell("call", REFUSED)
def test_bad_input_gets_one_sentence_and_exit_code_2(call: str, files: Path) -> None:
    done = command(*call.format(files=files).split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("reid-sql: ")
    assert done.stderr.count("\n") == 1
    assert REFUSED[call] in done.stderr


def test_query_takes_the_sql_itself(tmp_path: Path) -> None:
    # the second is too long for a path
    short, long = "SELECT 7 AS a", f"SELECT 7 AS a -- {'long ' * 2000}"
    (tmp_path / "my query.txt").write_text(short, encoding="utf-8")
    for given in (short, long, str(tmp_path / "my query.txt")):
        assert json.loads(command("query", given, "--json").stdout) == [{"a": 7}]


def test_query_writes_to_a_database_and_leaves_no_function_there(tmp_path: Path) -> None:
    database = tmp_path / "x.duckdb"
    sql = "CREATE TABLE t AS SELECT 1 AS a; CREATE TABLE r AS FROM risk_summary(t, ['a'])"
    assert command("query", "-", "--database", str(database), stdin=sql).returncode == 0
    with duckdb.connect(database) as con:
        assert con.execute("SELECT k FROM r").fetchall() == [(1,)]
        assert con.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE NOT internal"
        ).fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("FROM risk_summary(nowhere, ['a'])", "Table with name nowhere does not exist!"),
        (
            "FROM risk_summary(range, ['a', 'A'])",
            "quasi-identifiers must be distinct, got 'A' twice",
        ),
    ],
)
def test_query_refuses_in_one_sentence(sql: str, words: str) -> None:
    done = command("query", "-", stdin=sql)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_functions_lists_all() -> None:
    listed = json.loads(command("functions", "--json").stdout)
    assert {"equivalence_class_size", "risk_summary"} <= {row["name"] for row in listed}
    assert all(row["words"] and row["source"] for row in listed)
    shown = command("functions", columns=100).stdout
    assert {row["name"] for row in listed} <= {*shown.replace(",", " ").split()}
    assert len(shown.splitlines()) <= 30


def test_a_function_says_what_it_lacks_and_where() -> None:
    shown = " ".join(command("functions", "profile").stdout.split())
    assert "Without entity: it describes columns" in shown
    assert "On Ibis the distinct records come to the client" in shown
    assert "On DuckDB the distinct records" not in shown, "it is counted there"


def test_sql_is_a_script_that_a_plain_client_loads() -> None:
    with duckdb.connect() as con:
        con.execute(command("sql").stdout)
        con.execute("CREATE TABLE t AS FROM (VALUES (1, 'a'), (1, 'a'), (2, NULL)) v(a, b)")
        assert con.execute(
            "SELECT k, unique_records FROM risk_summary(t, ['a', 'b'])"
        ).fetchall() == [(1, 1)]
        assert con.execute("SELECT equivalence_class_size(a, b) FROM t ORDER BY a").fetchall() == [
            (2,),
            (2,),
            (1,),
        ]
        assert con.execute("SELECT round(cell_risk(0.01, 101), 6)").fetchall() == [(0.366032,)]
        with pytest.raises(
            duckdb.Error, match="got wildcard; pass that, or use the Python package reid-sql"
        ):
            con.execute("FROM risk_summary(t, ['a', 'b'], nulls := 'wildcard')")


def test_the_permanent_script_stays_in_the_database(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "x.duckdb") as con:
        con.execute(command("sql", "--permanent").stdout)
    with duckdb.connect(tmp_path / "x.duckdb") as con:
        assert (
            con.execute(
                "SELECT k FROM risk_summary('reid_sql/demo/people.csv', ['sex'])"
            ).fetchall()[0][0]
            > 1000
        )


@pytest.mark.newest
@pytest.mark.parametrize("name", ["functions", 'the "functions"'])
def test_the_permanent_script_of_a_named_database_is_called_from_others(
    tmp_path: Path, name: str
) -> None:
    file, place = tmp_path / f"{name}.duckdb", '"' + name.replace('"', '""') + '"'
    with duckdb.connect(file) as con:
        con.execute(command("sql", "--permanent", name).stdout)
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{file}' AS {place} (READ_ONLY)")
        con.execute("CREATE TABLE t AS SELECT i % 3 AS a FROM range(10) v(i)")
        assert con.execute(f"SELECT k FROM {place}.risk_summary(t, ['a'])").fetchall() == [(3,)]
        sizes = con.execute(
            f"SELECT {place}.equivalence_class_size(a) FROM t ORDER BY a"
        ).fetchall()
        assert sizes == [(4,)] * 4 + [(3,)] * 6
        with pytest.raises(
            duckdb.Error, match="got wildcard; pass that, or use the Python package reid-sql"
        ):
            con.execute(f"FROM {place}.risk_summary(t, ['a'], nulls := 'wildcard')")
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{file}' AS other (READ_ONLY); CREATE TABLE t AS SELECT 1 AS a")
        with pytest.raises(duckdb.CatalogException, match="does not exist"):
            con.execute("SELECT k FROM other.risk_summary(t, ['a'])")


def test_the_permanent_script_without_a_name_says_from_where_it_is_called(tmp_path: Path) -> None:
    written = command("sql", "--permanent").stdout
    assert "reid-sql sql --permanent NAME, attached as NAME everywhere" in written
    with duckdb.connect(tmp_path / "x.duckdb") as con:
        con.execute(written)
    with duckdb.connect() as con:
        con.execute(
            f"ATTACH '{tmp_path}/x.duckdb' AS x; CREATE TABLE t AS SELECT i % 3 AS a FROM range(10) v(i)"
        )
        with pytest.raises(duckdb.CatalogException, match="does not exist"):
            con.execute("SELECT k FROM x.risk_summary(t, ['a'])")
        con.execute("USE x")
        assert con.execute("SELECT k FROM risk_summary(memory.t, ['a'])").fetchall() == [(3,)]


REMOVALS = (
    f"FROM qar_risk('{PEOPLE}', ['age', 'sex', 'postcode', 'marital_status', 'education', 'occupation', "
    "'diagnosis'], remove := 5, ranking := 'u_plus', alpha := 0.1, tail := 0.5, output := 'elimination')"
)


def test_a_query_draws_the_chart_of_its_answer(tmp_path: Path) -> None:
    """Extreme risk has no command of its own: SQL asks for it, and for its chart."""
    file = tmp_path / "removals.svg"
    done = command("query", f"{REMOVALS}; SELECT 1 AS a", "--json", "--plot", str(file))
    first = done.stdout.splitlines()[0]
    rows = json.loads(first)
    assert [row["step"] for row in rows] == list(range(6))
    text = file.read_text(encoding="utf-8")
    assert "Effect of removing people" in text
    assert text.count("<polyline") == 1
    again = command("query", REMOVALS, "--json")
    assert again.stdout.splitlines()[0] == first


def test_a_query_without_a_chart_is_not_drawn(tmp_path: Path) -> None:
    file = tmp_path / "nothing.svg"
    done = command("query", "SELECT 1 AS a", "--plot", str(file))
    assert done.returncode == 2
    assert done.stderr.startswith("reid-sql: --plot must come with the answer of a function")
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "same"),
    [((), ("--help",)), (("help",), ("--help",)), (("help", "risk"), ("risk", "--help"))],
)
def test_help_is_printed_without_dashes_too(
    arguments: tuple[str, ...], same: tuple[str, ...]
) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == command(*same).stdout
    assert done.stdout.startswith("usage: reid-sql")


@pytest.mark.parametrize("stand_out", ["nan", "1e400", "-1", "2.5", "many"])
def test_how_many_to_show_is_a_whole_number(stand_out: str) -> None:
    done = command("risk", PEOPLE, "--qi", "age", "--stand-out", stand_out)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("reid-sql: --stand-out must be a")


def test_quasi_identifiers_given_again_are_added() -> None:
    both = json.loads(
        command("risk", PEOPLE, "--qi", "age", "--qi", "sex,postcode", "--json").stdout
    )
    assert both["summary"]["unique_records"] == 1051


def test_query_makes_no_database_of_a_mistyped_path(tmp_path: Path) -> None:
    missing = tmp_path / "peple.duckdb"
    done = command("query", "-", "--database", str(missing), stdin="SELECT 1;")
    assert done.returncode == 2
    assert "--database must be an existing DuckDB file" in done.stderr
    assert not missing.exists()


def test_a_plot_without_a_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    plot = str(tmp_path / "nowhere" / "curve.svg")
    done = command("risk", "no such file.csv", "--qi", "age", "--population", "1e6", "--plot", plot)
    assert done.returncode == 2
    assert "--plot must be in an existing folder" in done.stderr


def test_the_module_is_the_command() -> None:
    call = [sys.executable, "-m", "reid_sql", "--version"]
    done = subprocess.run(
        call, capture_output=True, text=True, env=environment(), cwd=ROOT, check=True
    )
    assert done.stdout.startswith("reid-sql ")


def test_ctrl_c_while_the_command_loads_is_no_traceback() -> None:
    for wait in (0.1, 0.2, 0.4):
        call = [sys.executable, "-m", "reid_sql.cli", "risk", PEOPLE, "--qi", "age"]
        running = subprocess.Popen(
            call,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=ROOT,
        )
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        _, reported = running.communicate(timeout=60)
        assert "reid_sql" not in reported


def test_one_function_is_described_in_full() -> None:
    reported = command("functions", "risk_summary").stdout
    assert reported.startswith("risk_summary(tbl, qi, threshold := 0.2")
    assert "unique_records BIGINT" in " ".join(reported.split())
    assert "Refuses an empty table" in reported
    assert "Not on Spark: it reads the codes of all records" in " ".join(
        command("functions", "qar_risk").stdout.split()
    )
    refused = command("functions", "risk_sumary")
    assert refused.returncode == 2
    assert "got 'risk_sumary'; did you mean 'risk_summary'?" in refused.stderr


HELP = """
import sys
before = {*sys.modules}
import contextlib, io
from reid_sql.cli import main
from reid_sql.commands.parser import COMMANDS

words = list(COMMANDS)
for arguments in [["--help"], *([word, "--help"] for word in words)]:
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(arguments)
loaded = {name.partition(".")[0] for name in sys.modules.keys() - before}
print(sorted(loaded - {"reid_sql", *sys.stdlib_module_names}))
"""


def test_help_is_shown_without_what_counts() -> None:
    """Whoever asks for help waits for neither an engine nor a model."""
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
