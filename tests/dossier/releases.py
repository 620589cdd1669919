"""A release for two recipients, with an assessment, for tests of its dossier."""

from pathlib import Path

PEOPLE = Path(__file__).parents[2] / "reid_sql" / "demo" / "people.csv"
POLICY = """
name = "town for two recipients"
[[tables]]
name = "people"
file = "people.csv"
quasi_identifiers = ["age", "sex", "postcode"]
sensitive = ["diagnosis"]
[[tables.checks]]
measure = "highest_risk"
at_most = 0.09
[[recipients]]
name = "University hospital"
environment = "secure room"
controls = ["a contract of 2026"]
knows = ["sex", "postcode"]
links = ["population"]
[[recipients.checks]]
measure = "k"
at_least = 2
[[recipients]]
name = "Everybody"
environment = "public"
[[recipients.checks]]
measure = "uniqueness"
at_most = 0.01
[assessment]
assessor = "Ada Lind"
date = 2026-11-27
standards = ["iso_iec_27559", "hipaa", "ema_policy_0070"]
triggers = ["a new column"]
[[assessment.intruder_tests]]
who = "two analysts"
date = 2026-11-20
hours = 16
sources = ["the telephone book"]
outcome = "No person was identified."
[assessment.answers]
"ISO/IEC 27559 6.2.3" = "The hospital has no reason to look for patients."
"""


def release(folder: Path, policy: str = POLICY) -> Path:
    (folder / "people.csv").write_bytes(PEOPLE.read_bytes())
    file = folder / "policy.toml"
    file.write_text(policy, encoding="utf-8")
    return file
