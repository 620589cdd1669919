"""What is published holds what it needs and nothing else, and works where it is installed."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import yaml

import reid_sql
from tests.processes import ROOT

EXTRAS = ("acro", "files", "ibis", "mcp")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel and the sdist, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    call = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    [found] = built.glob("*.whl")
    return found


def committed(*places: str) -> set[str]:
    call = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *places]
    listed = subprocess.run(
        call, cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    return {name for name in listed.splitlines() if (ROOT / name).exists()}


def test_the_wheel_holds_the_two_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    members = {name for name in names if ".dist-info/" not in name}
    shown = {
        f"reid_sql/{name}" for name in committed("sql_examples")
    }  # which `reid-sql functions NAME` prints
    packages = {name.removeprefix("udfs/") for name in committed("reid_sql", "udfs/reid_sql_udfs")}
    assert members == packages | shown | {"reid_sql/SKILL.md"}
    kinds = {Path(name).suffix for name in members}
    assert {".sql", ".toml", ".css", ".json", ".csv", ".pyi", ".typed", ".py", ".md"} <= kinds
    assert {name.rpartition("/")[2] for name in names if ".dist-info/" in name} == {
        "METADATA",
        "WHEEL",
        "entry_points.txt",
        "LICENSE",
        "NOTICE",
        "RECORD",
    }


def test_the_sdist_holds_what_it_is_built_and_tested_from(built: Path) -> None:
    [found] = built.glob("*.tar.gz")
    with tarfile.open(found) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    folders = ("reid_sql", "udfs", "tests", "benchmarks", "tools", "sql_examples", "skills", "docs")
    beside = {"LICENSE", "NOTICE", "llms.txt", "Makefile", "CITATION.cff", *committed("*.md")}
    wanted = committed(*folders) | {name for name in beside if "/" not in name}
    assert names == wanted | {"PKG-INFO", "pyproject.toml", ".gitignore"}


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    asked = {f"python {project['requires-python']}"}
    asked |= {
        need.replace("duckdb>", "python-duckdb>").replace(">", " >")
        for need in project["dependencies"]
    }
    assert set(recipe["requirements"]["run"]) == asked
    assert recipe["context"]["version"] == reid_sql.__version__
    [script] = recipe["build"]["python"]["entry_points"]
    assert script == f"reid-sql = {project['scripts']['reid-sql']}"


def test_nothing_of_this_machine_is_in_the_packages(built: Path, wheel: Path) -> None:
    here = [str(place) for place in (ROOT, Path.home()) if len(place.parts) > 1]
    with zipfile.ZipFile(wheel) as file:
        texts = {name: file.read(name) for name in file.namelist()}
    [found] = built.glob("*.tar.gz")
    with tarfile.open(found) as packed:
        parts = [part for part in packed.getmembers() if part.isfile()]
        texts |= {part.name: read.read() for part in parts if (read := packed.extractfile(part))}
    for name, text in texts.items():
        for word in here:
            assert not re.search(rb"(?<![\w-])" + re.escape(word.encode()) + rb"(?![\w-])", text), (
                name,
                word,
            )


def test_every_extra_is_offered_and_installed_somewhere(wheel: Path) -> None:
    """dev, with Spark, and dbt have environments of `make test-all`; the others are installed below."""
    with zipfile.ZipFile(wheel) as file:
        [name] = [name for name in file.namelist() if name.endswith("/METADATA")]
        offered = set(
            re.findall(r"^Provides-Extra: (\S+)$", file.read(name).decode(), re.MULTILINE)
        )
    made = re.findall(
        r'\$\(INSTALL\) "\.\[(\w+)\]"', (ROOT / "Makefile").read_text(encoding="utf-8")
    )
    assert offered == {*made, "spark", *EXTRAS}


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """Also: what messages advise, `pip install 'reid-sql[acro]'`, needs no index to find reid-sql itself."""
    place = tmp_path / "empty"
    venv.create(place, symlinks=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(place / "bin" / "python"),
        "install",
        "--quiet",
    ]
    subprocess.run([*pip, "--no-compile", str(wheel)], check=True, capture_output=True)
    demo = run(
        place / "bin", tmp_path, "python", "-c", "import reid_sql; print(reid_sql.demo.people())"
    )
    assert "1,051" in run(
        place / "bin", tmp_path, "reid-sql", "risk", demo, "--qi", "age,sex,postcode"
    )
    subprocess.run(
        [*pip, "--no-compile", f"reid-sql[{','.join(EXTRAS)}]"], check=True, capture_output=True
    )
    modules = (
        "import yaml, fastexcel, pyreadstat, ibis, mcp, sqlglot, reid_sql; print(reid_sql.__file__)"
    )
    assert Path(run(place / "bin", tmp_path, "python", "-c", modules)).is_relative_to(place)


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel alone, and sees this one's libraries behind it."""
    place = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(place, symlinks=True)
    [libraries] = place.glob("lib/python*/site-packages")
    call = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(place / "bin" / "python"),
        "install",
        "--quiet",
    ]
    subprocess.run([*call, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    (libraries / "behind.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n", encoding="utf-8")
    return place / "bin"


def run(programs: Path, tmp_path: Path, program: str, *arguments: str) -> str:
    """What the program prints, run in an empty folder without this repository on any path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    call = [str(programs / program), *arguments]
    done = subprocess.run(
        call, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_demo_is_where_the_package_is(programs: Path, tmp_path: Path) -> None:
    reported = run(
        programs, tmp_path, "python", "-c", "import reid_sql; print(reid_sql.demo.people())"
    )
    assert Path(reported).is_file()
    assert Path(reported).is_relative_to(programs.parent)
    summary = run(programs, tmp_path, "reid-sql", "risk", reported, "--qi", "age,sex,postcode")
    assert "3,000" in summary
    assert "1,051" in summary


SQL = """
import duckdb, reid_sql
con = duckdb.connect()
reid_sql.register(con)
con.execute("CREATE TABLE people AS FROM demo_people()")
asked = "SELECT k, unique_records FROM risk_summary(people, ['age', 'sex', 'postcode'])"
print(con.execute(asked).fetchall())
"""
POLARS = """
import reid_sql.polars as rp
summary = rp.risk_summary(rp.demo_people(), ["age", "sex", "postcode"])
print(summary.select("k", "unique_records").collect().rows())
assert "average_risk" in rp.risk_summary.__doc__
"""


@pytest.mark.parametrize("program", [SQL, POLARS], ids=["SQL", "Polars"])
def test_functions_answer_where_the_wheel_is_installed(
    program: str, programs: Path, tmp_path: Path
) -> None:
    assert run(programs, tmp_path, "python", "-c", program) == "[(1, 1051)]"


def test_the_gate_writes_its_page_where_the_wheel_is_installed(
    programs: Path, tmp_path: Path
) -> None:
    demo = run(programs, tmp_path, "python", "-c", "import reid_sql; print(reid_sql.demo.people())")
    policy = f"""
[[tables]]
file = "{demo}"
quasi_identifiers = ["sex"]
checks = [{{ measure = "k", at_least = 5 }}]
"""
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    assert "PASS" in run(
        programs, tmp_path, "reid-sql", "check", "policy.toml", "--html", "report.html"
    )
    assert "<style>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(run(programs, tmp_path, "reid-sql", "sql").splitlines()) > 100


CLUSTER = """
import json, os, sys
from collections import Counter
from pathlib import Path
from pyspark.sql import SparkSession
import reid_sql, reid_sql.spark as rs

os.environ["PYSPARK_PYTHON"] = sys.executable
settings = json.loads(sys.argv[1])
spark = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
spark.sparkContext.setLogLevel("OFF")

def place(_):
    import os, reid_sql, time
    time.sleep(1)  # so that no worker takes all parts
    yield os.getppid(), reid_sql.__file__

workers = dict(spark.sparkContext.parallelize(range(8), 8).mapPartitions(place).collect())
rows = [(i // 2, i * 7 % 11, i * i % 5, i * 3 % 7) for i in range(200)]
table = spark.createDataFrame(rows, ["person", "age", "region", "ill"]).repartition(4)

def ask(frame):
    return [row.asDict() for row in frame.collect()]

qi = ["age", "region"]
sizes = ask(rs.equivalence_class_size(table, *qi, name="k"))
[summary] = ask(rs.risk_summary(table, qi))
[people] = ask(rs.risk_summary(table, qi, entity="person"))
[l] = ask(rs.l_diversity(table, qi, "ill"))
scored = [row["x"] for row in ask(spark.range(101, 105, 1, 4).select(rs.cell_risk(0.01, "id").alias("x")))]
print(json.dumps({
    "python": sorted({Path(file).as_posix() for file in workers.values()}), "workers": len(workers),
    "sizes": sorted([row["age"], row["region"], row["k"]] for row in sizes),
    "k": summary["k"], "unique": summary["unique_records"], "people": people["records"],
    "k_of_people": people["k"], "l": l["value"], "scored": scored,
    "forecast": len(ask(rs.pyc_fit(table, qi))), "population": len(ask(rs.population_risk(table, qi, [1e4]))),
}))
"""


@pytest.mark.spark
def test_functions_of_spark_answer_on_workers_that_have_the_wheel_alone(
    programs: Path, tmp_path: Path
) -> None:
    from tests.spark_session import SETTINGS  # noqa: PLC0415 - only where there is Spark

    java = {"spark.executor.extraJavaOptions": SETTINGS["spark.driver.extraJavaOptions"]}
    settings = json.dumps(SETTINGS | java | {"spark.sql.shuffle.partitions": "2"})
    printed = run(programs, tmp_path, "python", "-c", CLUSTER, settings)
    found = json.loads(printed.splitlines()[-1])
    rows = [(i // 2, i * 7 % 11, i * i % 5, i * 3 % 7) for i in range(200)]
    sizes = Counter((age, region) for _, age, region, _ in rows)
    holders, ill = defaultdict(set), defaultdict(set)
    for person, age, region, illness in rows:
        holders[age, region].add(person)
        ill[age, region].add(illness)
    assert found.pop("workers") == 2
    assert all(Path(file).is_relative_to(programs.parent) for file in found.pop("python"))
    assert found == {
        "sizes": sorted([age, region, sizes[age, region]] for _, age, region, _ in rows),
        "k": min(sizes.values()),
        "unique": sum(size == 1 for size in sizes.values()),
        "people": 100,
        "k_of_people": min(map(len, holders.values())),
        "l": min(map(len, ill.values())),
        "scored": pytest.approx([0.99**rest for rest in range(100, 104)]),
        "forecast": 1,
        "population": 1,
    }
