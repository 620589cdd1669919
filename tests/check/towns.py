"""Policies over the made-up town, for tests of what comes of them."""

from pathlib import Path

PEOPLE = Path(__file__).parents[2] / "reid_sql" / "demo" / "people.csv"
HEAD = (
    f'[[tables]]\nname = "people"\nfile = "{PEOPLE}"\nquasi_identifiers = ["age", "sex", '
    '"postcode"]\npopulation = 1e6'
)
ALL = """
checks = [
  { measure = "k", at_least = 5 },
  { measure = "unique_records", at_most = 100, by = ["education"] },
  { measure = "uniqueness", at_most = 0.4 },
  { measure = "records_at_risk", threshold = 0.2, at_most = 0.9 },
  { measure = "forecast_correctness", at_most = 0.05 },
  { measure = "separation", at_most = 0.5 },
  { measure = "qar", p = 2, at_most = 0.5 },
  { measure = "adversary_average", scenario = "neighbours.toml", at_most = 0.05 },
  { measure = "forecast_uniqueness", population = 100, at_most = 0.5 },
]
"""
NEIGHBOURS = """
name = "neighbours"
population = 100_000
groups = [{ columns = ["sex", "postcode"], probability = 0.5 }, { columns = ["age"], probability = 0.25 }]
"""


def town(folder: Path, checks: str = ALL, head: str = "") -> Path:
    (folder / "neighbours.toml").write_text(NEIGHBOURS, encoding="utf-8")
    file = folder / "policy.toml"
    file.write_text(f'name = "town <release> & more"\n{head}\n{HEAD}\n{checks}', encoding="utf-8")
    return file
