"""Names of columns of names and contacts, as people write them, and columns that are neither."""

from pathlib import Path

import duckdb
import pytest

from reid_sql.commands.proposals import find_reasons_by_values
from reid_sql.commands.starter import Starter
from reid_sql.models.columns.direct_identifiers import are_contacts, kind_by_name
from tests.cells import each_cell

NAMES = (
    "name|Last Name|first_names|surname|userName|Nachname|Rufname|Nom|Prénom|nom de famille|Nombre|Apellidos|"
    "nombre completo|cognome|Nome|achternaam|imię|nazwisko|förnamn|etternavn|customer_last_name|FULLNAME|"
    "Jméno|Příjmení|Név|vezetéknév|Nume|Prenume|prezime|etunimi|Soyadı|ad soyad|Имя|ФИО|Фамилия|Прізвище|Ім'я|"
    "Επώνυμο|氏名|患者氏名|姓名|이름|성명|الاسم|שם"
)
CONTACTS = (
    "email|E-Mail|e_mail_2|Email address|work-email|Courriel|correo electrónico|Téléphone|phone|Tel.|Tel. privat|"
    "mobile_phone|Handynummer|Móvil|fax|IBAN|Cuenta bancaria|Kontonummer|address|street_address|Adresse|Straße|"
    "Wohnadresse|Dirección postal|indirizzo|IP|ip_address|Adresse IP|MAC|MSISDN|Kfz-Kennzeichen|license plate|"
    "customerEmail|home.phone|Wohnstrasse|"
    "Телефон|Адрес|電話番号|住所|手机|전화번호|주소"
)
NEITHER = (
    "age|sex|postcode|region|code postal|profession|nombre d'enfants|title|rank|named_account|emailed|phoned|"
    "address.zip|phone.model|telephony|streetcar|macro|ipod|shipping|ripe|nomination|renamed|prename|mailing|faxed|emailing|count|area"
)


@each_cell("name", NAMES.split("|"))
def test_a_column_of_names(name: str) -> None:
    assert kind_by_name(name, 300, is_text=True) == "name"
    assert kind_by_name(name, 300, is_text=False) is None


@each_cell("name", CONTACTS.split("|"))
def test_a_column_of_contacts(name: str) -> None:
    assert kind_by_name(name, 300, is_text=True) == "contact"
    assert (
        kind_by_name(name, 300, is_text=False) == "contact"
    )  # an integer may be a telephone number
    assert kind_by_name(name, 2, is_text=True) is None  # whether there is one


@each_cell("name", NEITHER.split("|"))
def test_a_column_of_neither(name: str) -> None:
    assert kind_by_name(name, 300, is_text=True) is None


@each_cell(
    "value",
    [
        "a.b@ex.org",
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "FR1420041010050500013M02606",
        "10.0.0.255",
        "00:1A:2b:3C:4d:5E",
        "https://example.org/p?id=1",
        "+49 (30) 901820",
    ],
)
def test_a_value_that_reaches_a_person(value: str) -> None:
    assert are_contacts([value])


@each_cell(
    "value", ["north", "75011", "E10.1", "1.5", "2024-05-07", "+1", "12:30", "a@b", "AB12", "3.4.2"]
)
def test_a_value_that_reaches_nobody(value: str) -> None:
    assert not are_contacts([value])


@pytest.mark.parametrize("name", ["Kontakt", "ansprechpartner"])
def test_contacts_are_left_out_by_their_values(name: str, tmp_path: Path) -> None:
    """One address is shared, so that the column does not look like an identifier."""
    con = duckdb.connect(str(tmp_path / "people.duckdb"))
    mail = "'p' || greatest(i, 1) || '@example.org'"
    con.execute(
        f"CREATE TABLE people AS SELECT {mail} AS {name}, i % 40 AS age FROM range(200) t(i)"
    )
    row = {"column_type": "text", "looks_like": "code", "distinct_values": 199, "missing": 0.0}
    rows = [row | {"column_name": name, "separation": 1.0, "sentinels": []}]
    found = find_reasons_by_values(con, "people", rows)
    starter = Starter(rows, {"file": "people.csv"}, by_values=found)
    assert (starter.omitted, starter.sensitive, starter.quasi_identifiers) == ([name], {}, [])
