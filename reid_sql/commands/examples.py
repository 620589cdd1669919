"""An example of each command, which its help ends with."""

from collections.abc import Mapping
from typing import Final

EXAMPLES: Final[Mapping[str, str]] = {
    "report": "people.csv --html report.html",
    "profile": "people.csv",
    "init": "people.csv",
    "risk": "people.csv --qi age,sex,zip --population 67e6",
    "forecast": "people.csv --qi age,sex,zip --population 1e6,67e6",
    "validate": "people.csv --qi age,sex,zip",
    "adversary": "people.csv --scenario voters.toml",
    "qar": "people.csv --columns age,sex,zip,job,income",
    "check": "policy.toml --html report.html",
    "prepare": "policy.toml --sql release.sql",
    "compare": "people.csv released.csv --qi age,sex,zip --key id",
    "audit": "original.csv synthetic.csv --holdout holdout.csv --qi age,sex,zip",
    "releases": "january.csv february.csv --qi age,sex,zip",
    "safe": "people.csv --by region,sex,diagnosis --totals margins --suppress secondary",
    "audit-tables": "january.csv february.csv --people nested",
    "query": "\"FROM risk_summary('people.csv', ['age', 'sex'])\"",
    "serve": "people.csv --log questions.jsonl",
    "functions": '--for "who stands out"',
    "sql": "\"risk_summary(people, ['age', 'sex'])\" --dialect snowflake",
    "completion": "bash > reid-sql.bash",
}
