"""Columns of health and money are proposed as sensitive by their names, in many languages, or by values."""

from reid_sql.models.columns.sensitive_columns import reason_by_name, reason_by_values
from tests.cells import each_cell

HEALTH, MONEY = "the name is one of health", "the name is one of an amount"


@each_cell(
    "name, reason",
    [
        ("diagnosis", HEALTH),
        ("Hauptdiagnose", HEALTH),
        ("primary_diagnosis_code", HEALTH),
        ("ICD", HEALTH),
        ("icd10", HEALTH),
        ("Maladie", HEALTH),
        ("patología", HEALTH),
        ("isPregnant", HEALTH),
        ("Krankheit 1", HEALTH),
        ("skin_cancer", HEALTH),
        ("Asthma", HEALTH),
        ("income", MONEY),
        ("monthlyIncome", MONEY),
        ("Jahreseinkommen", MONEY),
        ("MONTANT_TTC", MONEY),
        ("coût", MONEY),
        ("wage", MONEY),
        *(
            (name, HEALTH)
            for name in ("病名", "診断名", "Диагноз", "진단명", "Rozpoznanie", "tanı")
        ),
        *(
            (name, MONEY)
            for name in ("年収(万円)", "Зарплата", "소득", "Kwota świadczenia", "Částka")
        ),
        ("age", None),
        ("sex", None),
        ("postcode", None),
        ("costume", None),
        ("village", None),
        ("birth_date", None),
        ("occupation", None),
        ("ethnicity", None),
        ("drugstore", None),
    ],
)
def test_names(name: str, reason: str | None) -> None:
    assert reason_by_name(name) == reason


@each_cell(
    "values, found",
    [
        (["HIV", "Krebs", "Grippe"], True),
        (["flu", "asthma", "none", "other"], True),
        (["flu", "no", "none", "other", "yes"], False),
        (["type 2 diabetes", "breast cancer"], True),
        (["E10", "I21.4", "C50.9"], True),
        (["E10", "A1", "B27"], False),
        (["north", "south"], False),
        (["1743", "1755"], False),
        ([], False),
    ],
)
def test_values(values: list[str], found: bool) -> None:  # noqa: FBT001 - a case
    assert bool(reason_by_values(values)) is found
