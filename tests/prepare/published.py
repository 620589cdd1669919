"""The hierarchies of adult that ARX publishes, as a policy, and its records: those that lack nothing.

Facts of https://github.com/arx-deidentifier/arx (data/adult_hierarchy_*.csv, figures of its tests).
"""

import json
from pathlib import Path

import polars as pl

ORDER = [
    *("sex", "age", "race", "marital_status", "education", "native_country"),
    *("workclass", "occupation", "income"),
]
GROUPS: dict[str, list[dict[str, list[str]]]] = {
    "marital_status": [
        {
            "spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
            "spouse not present": [
                *("Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent"),
            ],
        }
    ],
    "education": [
        {
            "Undergraduate": ["Bachelors", "Some-college"],
            "High School": ["11th", "HS-grad", "9th", "7th-8th", "12th", "10th"],
            "Professional Education": ["Prof-school", "Assoc-acdm", "Assoc-voc"],
            "Graduate": ["Masters", "Doctorate"],
            "Primary School": ["1st-4th", "5th-6th", "Preschool"],
        },
        {
            "Higher education": ["Undergraduate", "Professional Education", "Graduate"],
            "Secondary education": ["High School"],
            "Primary education": ["Primary School"],
        },
    ],
    "workclass": [
        {
            "Non-Government": ["Private", "Self-emp-not-inc", "Self-emp-inc"],
            "Government": ["Federal-gov", "Local-gov", "State-gov"],
            "Unemployed": ["Without-pay", "Never-worked"],
        }
    ],
    "occupation": [
        {
            "Technical": ["Tech-support", "Craft-repair", "Prof-specialty", "Machine-op-inspct"],
            "Nontechnical": ["Sales", "Exec-managerial", "Handlers-cleaners"],
            "Other": [
                *(
                    "Other-service",
                    "Adm-clerical",
                    "Farming-fishing",
                    "Transport-moving",
                    "Priv-house-serv",
                ),
                *("Protective-serv", "Armed-Forces"),
            ],
        }
    ],
    "native_country": [
        {
            "North America": [
                *(
                    "United-States",
                    "Puerto-Rico",
                    "Canada",
                    "Outlying-US(Guam-USVI-etc)",
                    "Cuba",
                    "Honduras",
                ),
                *("Jamaica", "Mexico", "Dominican-Republic", "Haiti", "Guatemala", "El-Salvador"),
            ],
            "Asia": [
                *(
                    "Cambodia",
                    "India",
                    "Japan",
                    "China",
                    "Iran",
                    "Philippines",
                    "Vietnam",
                    "Laos",
                    "Taiwan",
                ),
                *("Thailand", "Hong"),
            ],
            "Europa": ["England"],
            "Europe": [
                *(
                    "Germany",
                    "Greece",
                    "Italy",
                    "Poland",
                    "Portugal",
                    "Ireland",
                    "France",
                    "Hungary",
                ),
                *("Scotland", "Yugoslavia", "Holand-Netherlands"),
            ],
            "Africa": ["South"],
            "South America": ["Ecuador", "Columbia", "Nicaragua", "Trinadad&Tobago", "Peru"],
        }
    ],
}


def records(data: Path, folder: Path) -> Path:
    """The 30,162 records of adult without '?'; ages one lower, since those bands end at 20, 40, …"""
    frame = pl.read_parquet(data / "adult.parquet").select(ORDER)
    known = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    known.with_columns(pl.col("age").cast(pl.Int64) - 1).write_parquet(folder / "adult.parquet")
    return folder / "adult.parquet"


def hierarchies(columns: list[str]) -> str:
    """The hierarchies of some columns, as a policy has them; race, sex and income are left out or not."""
    bands = "[{ bands = 5 }, { bands = 10 }, { bands = 20 }]"
    lines = []
    for column in columns:
        steps = ", ".join(f"{{ groups = {{ {_pairs(step)} }} }}" for step in GROUPS.get(column, []))
        lines.append(f"hierarchies.{column} = {bands if column == 'age' else f'[{steps}]'}")
    return "\n".join(lines)


def _pairs(step: dict[str, list[str]]) -> str:
    return ", ".join(
        f"{json.dumps(group)} = {json.dumps(values)}" for group, values in step.items()
    )
