"""The programs that people use today, on adult: each as its documentation shows it, reading left out."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.speed.compare import Case
from benchmarks.speed.in_rival import ROOT, python_of
from benchmarks.speed.measure import Job

QI: Final = [
    *("age", "workclass", "education_num", "marital_status", "occupation"),
    *("relationship", "race", "sex", "hours_per_week", "native_country"),
]
CELLS: Final = ["race", "marital_status", "relationship"]
AUDITED: Final = 9_000  # records, a third in each table
READ: Final = 'import pandas as pd\npeople = pd.read_parquet(given["file"])\n'
PYCANON: Final = f"{READ}\nfrom pycanon import anonymity\npeople = people.astype(str)"
DESBORDANTE: Final = f"{READ}\nimport desbordante\npeople = people.drop_duplicates().astype(str)"
KEYS: Final = """
search = desbordante.ucc.algorithms.HPIValid()
search.load_data(table=people)
search.execute()
answer = {"sets": len(search.get_uccs())}
"""
ANONYMETER: Final = f"""
{READ}
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
people = people[given["qi"]]
made, used, holdout = (people[part : {AUDITED} : 3] for part in range(3))
three = {{"ori": used, "syn": made, "control": holdout}}
"""
ATTACKS: Final = """
attacks = [
    SinglingOutEvaluator(**three, n_attacks=500),
    LinkabilityEvaluator(**three, n_attacks=1000, aux_cols=(given["qi"][:5], given["qi"][5:])),
]
for secret in given["qi"]:
    others = [name for name in given["qi"] if name != secret]
    attacks.append(InferenceEvaluator(**three, n_attacks=1000, aux_cols=others, secret=secret))
for attack in attacks:
    attack.evaluate()
    attack.risk()
answer = {"audited": 1}
"""
TAU_ARGUS: Final = f"""
{READ}
import tempfile
from pytauargus import protect
os.chdir(folder := tempfile.mkdtemp())
micro = {{name: people[name].astype(str).tolist() for name in {CELLS}}} | {{"one": [1.0] * len(people)}}
"""
PROTECT: Final = f"""
protect(micro, {CELLS}, response="one", workdir=folder, safety_rules="FREQ(5,100)", suppress="OPT(1)")
answer = {{"protected": 1}}
"""


@dataclass(frozen=True)
class Rival:
    """A question in SQL of the tables that `prepare` makes, and the same in Python of another program."""

    words: str
    sql: str
    environment: str
    prepare: str
    work: str
    tables: str = "CREATE TEMP TABLE people AS FROM '{}'"


RIVALS: Final = (
    Rival(
        "k of adult",
        f"SELECT k FROM k_anonymity(people, {QI})",
        "rivals",
        PYCANON,
        'answer = {"k": int(anonymity.k_anonymity(people, given["qi"]))}',
    ),
    Rival(
        "l of adult",
        f"SELECT value::INTEGER AS l FROM l_diversity(people, {QI}, 'income')",
        "rivals",
        PYCANON,
        'answer = {"l": int(anonymity.l_diversity(people, given["qi"], ["income"]))}',
    ),
    Rival(
        "keys of adult",
        "SELECT count(*) AS sets FROM quasi_identifiers(people, at_least := 1)",
        "rivals",
        DESBORDANTE,
        KEYS,
        "CREATE TEMP TABLE people AS SELECT DISTINCT * FROM '{}'",
    ),
    Rival(
        "an audit of a table like adult",
        f"SELECT 1 AS audited FROM audit_synthetic(used, made, {QI}, holdout := holdout) LIMIT 1",
        "anonymeter",
        ANONYMETER,
        ATTACKS,
        "; ".join(
            f"CREATE TEMP TABLE {name} AS SELECT {', '.join(QI)} FROM '{{0}}' "
            f"WHERE file_row_number < {AUDITED} AND file_row_number % 3 = {part}"
            for part, name in enumerate(("made", "used", "holdout"))
        ),
    ),
    Rival(
        "suppression in a table of adult",
        f"SELECT 1 AS protected FROM safe_table(people, {CELLS}, totals := 'margins', "
        "suppress := 'secondary') LIMIT 1",
        "rivals",
        TAU_ARGUS,
        PROTECT,
    ),
)


def cases(threads: int) -> Iterator[Case]:
    """Cases beside pyCANON, Desbordante, anonymeter and tau-Argus, where they are installed."""
    file = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"), "adult.parquet")
    for rival in RIVALS:
        tables = rival.tables.format(file)
        ours = {"sql": rival.sql, "settings": {"threads": str(threads)}, "prepare": tables}
        theirs: dict[str, Any] = {
            "environment": rival.environment,
            "given": {"file": str(file), "qi": QI},
        }
        theirs |= {"prepare": rival.prepare, "work": rival.work}
        skipped = (
            None
            if file.exists()
            else "no adult.parquet in the data folder; set REID_SQL_DATA to it"
        )
        # `make bench` installs them
        beside = Job("in_rival", theirs) if python_of(rival.environment).exists() else None
        yield Case("rivals", rival.words, Job("in_duckdb", ours), beside, skipped=skipped)
