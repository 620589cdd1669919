"""What a file's lines, bytes, decimals and dates mean is settled before people are counted."""

from pathlib import Path

import pytest

from reid_sql.cli import main
from reid_sql.errors import OutOfDomainError
from reid_sql.models.columns.dates import DATE_FORMS, choose_date_form, read_date
from reid_sql.sources.files import open_source
from reid_sql.sources.text_content import TextFormat, propose_encodings
from tests.cells import each_cell

BODY = "".join(f"{'fm'[at % 2]};{30 + at % 7};N\n" for at in range(40))
HEADER = "sex;age;region\n"


def records(file: Path, form: TextFormat | None = None) -> list[tuple[object, ...]]:
    con, name = open_source(str(file), form=form or TextFormat())
    return con.execute(f"FROM {name}").fetchall()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{HEADER}Response;Response;Response\n{BODY}", "in line 2"),
        (f"{HEADER}What is it?;Age in years;Region of home\n{BODY}", "in line 2"),
        (f"{HEADER}{BODY}Source: Office;;\n* provisional;;\n", "in lines 42 to 43"),
        (f"{HEADER}{BODY};;\n;;\n", "in line 42, 43;"),
        (f"{HEADER}f;30;N\n;;\n{BODY}", "in line 3;"),
    ],
)
def test_lines_that_are_no_people_are_refused_by_their_numbers(
    tmp_path: Path, text: str, lines: str
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(OutOfDomainError, match=lines) as refused:
        records(tmp_path / "t.csv")
    assert "Response" not in str(refused.value)
    assert "Office" not in str(refused.value)


@pytest.mark.parametrize(
    "text", [BODY, f"x;?;N\n{BODY}", f"{BODY};31;\n", f"{BODY}m;;\n", f"unknown;;N\n{BODY}"]
)
def test_people_with_empty_cells_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(HEADER + text, encoding="utf-8")
    assert len(records(tmp_path / "t.csv")) == len(text.splitlines())


@pytest.mark.parametrize("encoding", ["cp1252", "cp1250", "koi8-r", "utf-32"])
def test_a_file_of_any_encoding_has_the_records_of_utf_8(tmp_path: Path, encoding: str) -> None:
    letters = {"cp1252": "€’é", "cp1250": "łž", "koi8-r": "Ил", "utf-32": "日"}[encoding]
    text = f"name;cost\nO{letters};3\nBonn;4\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    (tmp_path / "b.csv").write_text(text, encoding="utf-8")
    form = TextFormat(encoding=encoding)
    assert records(tmp_path / "a.csv", form) == records(tmp_path / "b.csv")


def test_a_refusal_names_an_encoding_that_reads_the_file_and_where_its_byte_is(
    tmp_path: Path,
) -> None:
    for letter, named in (("€", "cp1252"), ("é", "latin-1")):
        (tmp_path / "a.csv").write_bytes(f"name;cost\nBonn;1\nab{letter};3\n".encode(named))
        with pytest.raises(
            OutOfDomainError, match=rf"\(line 3, column 3\); write --encoding {named}"
        ):
            records(tmp_path / "a.csv")
        assert len(records(tmp_path / "a.csv", TextFormat(encoding=named))) == 2


@each_cell(
    "text, encodings",
    [
        ("płeć;miasto\nM;Łódź\nK;żółty\n", ["cp1250", "cp852"]),
        ("město;ulice\nPlzeň;Žižkova\nDěčín;Ústí\n", ["cp1250"]),
        ("név;város\nErzsébet;Győr\nJózsef;Hódmezővásárhely\n", ["cp1250"]),
        ("isim;şehir\nAyşe;İstanbul\nGüneş;Eskişehir\n", ["cp1254"]),
        ("vardas;miestas\nŽydrūnas;Šiauliai\n", ["cp1257"]),
        ("straße;nr\nKönigstraße;2\nÖlgasse;3\n", ["latin-1", "cp850", "mac-roman"]),
        ("nom;prix\nHélène;5 €\nl’œuvre;7 €\n", ["cp1252"]),
        ("niño;m²\n¿Qué?;12 m²\nNúñez;nº 5\n", ["latin-1", "cp850"]),
        ("имя;город\nИван;Москва\nМария;Тверь\n", ["cp1251", "koi8-r", "cp866"]),
        ("όνομα;πόλη\nΓιώργος;Θεσσαλονίκη\n", ["cp1253"]),
        ("שם;עיר\nמשה;תל אביב\n", ["cp1255"]),
        ("الاسم;المدينة\nمحمد;القاهرة\n", ["cp1256"]),
        ("氏名,住所\n佐藤一郎,東京都\nアキコ,おおさか\n", ["cp932"]),
        ("이름,성별\n김철수,남\n이영희,여\n", ["cp949"]),
        ("姓名,性别\n王小明,男\n李红,女\n", ["gb18030"]),
        ("姓名,性別\n王小明,男\n陳麗華,女\n", ["big5"]),
    ],
)
def test_a_refusal_proposes_an_encoding_that_has_the_letters_of_the_file(
    tmp_path: Path, text: str, encodings: list[str]
) -> None:
    """A Polish file was proposed to be converted, or read as of Western Europe: '£ódŸ' for 'Łódź'."""
    for encoding in encodings:
        (tmp_path / "a.csv").write_bytes(text.encode(encoding))
        proposed = propose_encodings(tmp_path / "a.csv", "utf-8")
        assert text in [text.encode(encoding).decode(each) for each in proposed]
        option = " or ".join(proposed[1:]) + " if its letters are wrong, or " * (len(proposed) > 1)
        with pytest.raises(
            OutOfDomainError, match=f"write --encoding {proposed[0]}, or {option}convert it"
        ):
            records(tmp_path / "a.csv")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_named(tmp_path: Path, encoding: str) -> None:
    """Its zero bytes are characters of UTF-8, so that it was read as a table of one column."""
    text = "age,sex,born\n30,f,Łódź\n40,m,Köln\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    (tmp_path / "b.csv").write_text(text, encoding="utf-8")
    with pytest.raises(OutOfDomainError, match=f"write --encoding {encoding}, or convert it"):
        records(tmp_path / "a.csv")
    read = records(tmp_path / "a.csv", TextFormat(encoding=encoding))
    assert read == records(tmp_path / "b.csv")


@each_cell(
    "footer, below, records",
    [
        ("", 1, 1),
        ("", 3, 3),
        ("Total;1285;\n", 1, 0),
        ("Total;1285;\n", 2, 1),
        ("mean;32;\n", 1, 0),
    ],
)
@each_cell("place", ["csv", "report", "check"])
def test_a_record_that_is_skipped_is_said(  # noqa: PLR0917 - cells
    footer: str,
    below: int,
    records: int,
    place: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--skip 0,1` for one file of a folder left the last person out of each other file, in silence."""
    (tmp_path / "t.csv").write_text(HEADER + BODY + footer, encoding="utf-8")
    file, skip = str(tmp_path / "t.csv"), f"0,{below}"
    if place == "check":
        policy = f'[[tables]]\nfile = "t.csv"\nskip = [{skip}]\nquasi_identifiers = ["sex"]\n'
        checks = '[[tables.checks]]\nmeasure = "k"\nat_least = 1\n'
        (tmp_path / "p.toml").write_text(f"{policy}{checks}", encoding="utf-8")
        assert main(["check", str(tmp_path / "p.toml"), "--json"]) == 0
        said = capsys.readouterr().out
        assert ("skipped_records" in said) == bool(records)
    else:
        command = ["report", file] if place == "report" else ["risk", file, "--qi", "sex"]
        assert main([*command, "--skip", skip]) == 0
        said = capsys.readouterr().out
    many = "lines look like records" if records > 1 else "line looks like a record"
    assert (f"skipped below the last record, {records} {many}" in " ".join(said.split())) == bool(
        records
    )


def test_decimals_of_json_stay_as_they_are_written(tmp_path: Path) -> None:
    long = [f"52.5{at:016d}" for at in range(0, 30, 3)]
    lines = [f'{{"x":{each},"y":"a: {each}, b","z":0.1{at}}}' for at, each in enumerate(long)]
    (tmp_path / "d.json").write_text("\n".join(lines), encoding="utf-8")
    found = records(tmp_path / "d.json")
    assert sorted(str(row[0]) for row in found) == long
    assert [row[1] for row in found] == [f"a: {each}, b" for each in long]
    assert all(isinstance(row[2], float) for row in found)


@each_cell(
    "texts, form",
    [
        (["08.05.1943", "28.02.1966"], "%d.%m.%Y"),
        (["5.3.1966", "13.3.1966"], "%d.%m.%Y"),
        (["02/28/1966", "12/01/1970"], "%m/%d/%Y"),
        (["08/05/1943", "03/04/1966"], None),  # either order
        (["5.3.66", "13.3.66"], None),  # of no known century
        (["31.02.1966", "28.02.1966"], None),  # no such day
        (["May 5, 1966", "June 1st, 1970"], "%B %d, %Y"),
        (["5 May 1966", "17 okt. 1970", "1er août 1970"], "%d %B %Y"),
        (["5. Mai 1966", "17. März 1970"], "%d. %B %Y"),
        (["05MAY1966", "17OCT1970"], "%d%B%Y"),
        (["1966年5月5日", "1970年10月17日"], "%Y年%m月%d日"),
        (["1966년 5월 5일", "1970년 10월 17일"], "%Y년 %m월 %d일"),
        (["5-MAY-66", "17-OCT-70"], None),  # of no known century
        (["5 May 1966", "31 June 1970"], None),  # no such day
        (["5 May 1966", "May 5, 1966"], None),  # in two ways
        (["5 Room 1966", "6 Room 1966"], None),
    ],
)
def test_dates_are_read_where_one_way_fits_all(texts: list[str], form: str | None) -> None:
    fitting = {
        each.form: sum(read_date(text, each) is not None for text in texts) for each in DATE_FORMS
    }
    chosen, note = choose_date_form("birth", fitting, len(texts))
    assert (chosen, bool(note)) == (form, form is None)
    assert not any(text in note for text in texts)
