"""Columns that identify a person by a name, a number or an address: by their names, or by their values.

They are proposed to be left out of a release: the first characters of a name or an e-mail address identify
people as well as all of it.
"""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reid_sql.models.columns.spelling import words_of_name

NAME: Final = "name"
CONTACT: Final = "contact"
_FILE: Final[dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
NAMES: Final = tuple(f" {each} " for each in (*_FILE["names"], *_FILE["names_of_words"]))
CONTACTS: Final = frozenset(_FILE["contacts"])
MIN_ENDING: Final = 7  # letters of a word that may be the end of a longer one
LONG_CONTACTS: Final = tuple(each for each in CONTACTS if len(each) >= MIN_ENDING)
MIN_CONTACTS: Final = 20  # more values than these, as `phone` may be whether there is one
WRITTEN_CONTACT: Final = re.compile(
    r"[^@\s]+@[^@\s]+[.]\w+"  # e-mail
    r"|[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?"  # IBAN, ISO 13616
    r"|(\d{1,3}[.]){3}\d{1,3}|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"  # IPv4, MAC
    r"|https?://\S+|[+]\d[\d /().-]{6,}"  # address of a page, international number of a telephone
)
MIN_SHARE: Final = 0.5  # of the values are contacts

# Words for people in names of columns, in several languages; some are one only before a number's word.
PEOPLE_WORDS: Final = (
    "person|people|patient|subject|customer|client|member|user|respondent|subscriber|employee|student|participant|"
    "citizen|rider|passenger|travell?er|player|cardholder|policyholder|applicant|claimant|borrower|taxpayer|pupil|"
    "learner|enrollee|(?:driver|resident|voter|donor|tenant|worker|guest|visitor|staff)(?=.)|patientin|patienten|kunden?|klient(?:en)?|versicherten?|versicherungs(?=.)|mitglied(?:s|er)?|"
    "teilnehmer|proband(?:en)?|sch(?:ü|ue)ler(?:in)?|personal(?=.)|personen|mitarbeiter|matrikel(?=.)|einwohner|bewohner|nutzer|"
    "benutzer|assur[eé]|salari[eé]|adh[eé]rent|[eé]tudiant|[eé]l[eè]ve|personne|usager|b[eé]n[eé]ficiaire|"
    "paciente|cliente|afiliado|alumno|empleado|usuario|asegurado|ciudadano|paziente|assistito|dipendente|"
    "studente|utente|cittadino|pati[eë]nt|cli[eë]nt|klant|persoon|leerling|deelnemer|werknemer|medewerker|"
    "pessoa|aluno|funcion[aá]rio|pacjent|klienta|pacjenta|ucze[nń]|pracownik|patientens|medlem|deltagare|"
    "anst[aä]lld|potilas|henkil[oö]|hasta(?=.)|m[uü][sş]teri|пациента?|клиента?|абонента?|студента?|сотрудника?|ασθεν[ηή]ς|"
    "患者|顧客|会員|職員|個人|利用者|病人|客户|员工|学生|환자|고객|회원|직원|학생"
)
NATIONAL_IDENTIFIERS: Final = (
    "ssn|nhs[_ ]?number|mrn|dni|nif|curp|pesel|cpf|bsn|svnr|personnummer|codice[_ ]?fiscale|matricola|msisdn|imsi|imei|"
    "nhc|c[eé]dula|cuil|cuit|nuss|prontu[aá]rio|cnp|oib|jmbg|amka|hetu|henkil[oö]tunnus|isikukood|kennitala|"
    "f[oø]dselsnummer|cpr[_ ]?nummer|tckn|aadhaar|ahv[_ ]?nummer|снилс|инн|マイナンバー|診察券番号|病历号|病案号|身份证号|身份证号码|"
    "주민등록번호|등록번호"
)
NUMBER_WORDS: Final = "id|nr|no|num|number|nummer|n[uú]mero|num[eé]ro|key|code|kennung|#|numer|numarası|номер|番号|コード|编号|号码|번호"
# A person may have several cases, cards or devices: their numbers do not name people for certain.
CASE_WORDS: Final = (
    "fall|case|akten?|dossier|expediente|account|card|kont[eo]n?|karten?|device|vehicle"
)
IDENTIFIER_NAME: Final = re.compile(
    rf"(^|_|\b)(id|uuid|guid|pid|(?P<national>{NATIONAL_IDENTIFIERS})|(?P<person>{PEOPLE_WORDS})(?P<number>[_ -]?({NUMBER_WORDS}))?"
    rf"|(?P<case>({CASE_WORDS})[_ -]?({NUMBER_WORDS}|zeichen)|device))[.:]?$",
    re.IGNORECASE,
)


def is_called_person(name: str) -> bool:
    """Whether a column is called a person, not a person's number: then it may have their names.

    >>> [is_called_person(name) for name in ("Member", "member_id", "Kunde", "visit")]
    [True, False, True, False]
    """
    match = IDENTIFIER_NAME.search(name)
    return match is not None and match["person"] is not None and match["number"] is None


def kind_by_name(name: str, values: int, *, is_text: bool) -> str | None:
    """Say whether a column names people or tells how to reach them, by its name and how many values it has.

    >>> kind_by_name("Prénom", 60, is_text=True), kind_by_name("E-Mail (privat)", 60, is_text=True)
    ('name', 'contact')
    >>> kind_by_name("event_name", 60, is_text=True), kind_by_name("visit_patient_name", 60, is_text=True)
    (None, 'name')
    >>> kind_by_name("nombre", 5, is_text=False), kind_by_name("phone", 2, is_text=True)
    (None, None)
    """
    words = words_of_name(re.split(r"[.](?=\w)", name)[-1])  # "home.address.city" is a city
    joined = f" {' '.join(words)} "
    is_of_thing = {*words[-2:-1]} & {*_FILE["things"]}
    if is_text and not is_of_thing and joined.endswith(NAMES):
        return NAME
    ends = {*words[:1], *words[-1:]}
    is_contact = (
        ends & CONTACTS
        or any(f" {each} " in joined for each in _FILE["contacts_of_words"])
        or joined.rstrip().endswith(LONG_CONTACTS)
    )
    return CONTACT if is_contact and values > MIN_CONTACTS else None


def are_contacts(values: Sequence[str]) -> bool:
    """Whether at least half of some values are e-mail addresses, accounts, or other addresses.

    >>> are_contacts(["ann@example.org", "bob@example.org"]), are_contacts(["north", "a@b"])
    (True, False)
    """
    written = sum(bool(WRITTEN_CONTACT.fullmatch(value.strip())) for value in values)
    return written >= max(1.0, MIN_SHARE * len(values))
