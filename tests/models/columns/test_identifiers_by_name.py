"""Names of columns of identifiers, as people write them: those of a person, of a case, and of nothing."""

from reid_sql.models.columns.direct_identifiers import IDENTIFIER_NAME
from reid_sql.models.columns.identifiers import likely, names_a_person
from tests.cells import each_cell

PEOPLE = [
    "id",
    " patient_id",
    " Patient ID",
    " PATIENT-NR",
    " patientId",
    " Member No.",
    " Customer #",
    " customer number",
    " user_key",
    "\n    Patientennummer",
    " Kundennr",
    " Kunden-Nr.",
    " Versichertennummer",
    " Versicherungsnummer",
    " Mitgliedsnummer",
    " Personalnummer",
    "\n    Matrikelnummer",
    " Schüler-Nr",
    " schueler_id",
    " Proband",
    " Teilnehmer-ID",
    " Mitarbeiterkennung",
    " numero_client",
    " n° patient",
    "\n    id_adhérent",
    " assuré",
    " id_paciente",
    " NIF",
    " codigo_empleado",
    " numero_paciente",
    " codice fiscale",
    " codice_fiscale",
    "\n    matricola",
    " id_cliente",
    " patiënt_nr",
    " BSN",
    " klantnummer",
    " PESEL",
    " CPF",
    " personnummer",
    " svnr",
    " ssn",
    " MSISDN",
    " imei",
    " subscriber_key",
    "Nr PESEL",
    "Prontuário",
    "numer_klienta",
    "Номер пациента",
    "患者番号",
    "患者ID",
    "환자번호",
    "病历号",
]
CASES = [
    "Fallnummer",
    " Fall-Nr.",
    " case_id",
    " Case No",
    " CASEID",
    " Aktenzeichen",
    " dossier_nr",
    " expediente_id",
]
OTHERS = [
    "age",
    " plz",
    " city",
    " Personal",
    " personal",
    " Fall",
    " case",
    " falls",
    " patients_per_day",
    " Nummer",
    " Hausnummer",
    " number",
    " no",
    "\n    Kassennummer",
    " telephone number",
    " order_no",
    " weight",
    " member_since",
    " clientele",
    " userland",
    " residence",
    " paid",
    " valid",
]
# whose they are is not known: they may be of people, and are looked at
UNCLEAR = ["hospital_id", "visit id", "record-id"]


@each_cell("name", [each.strip() for each in PEOPLE])
def test_identifiers_of_people(name: str) -> None:
    assert names_a_person(name)
    assert likely([name], []) == [name]
    assert likely([name], [name]) == [name]  # among the columns that are counted, too


@each_cell("name", [*[each.strip() for each in CASES], *UNCLEAR])
def test_identifiers_that_may_be_of_people(name: str) -> None:
    assert not names_a_person(name)
    assert likely([name], []) == [name]


@each_cell("name", [each.strip() for each in OTHERS])
def test_other_columns(name: str) -> None:
    assert IDENTIFIER_NAME.search(name) is None
