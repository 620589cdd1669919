"""The last line of a text file: a total or a note below the records is none of them."""

from pathlib import Path

import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.sources.files import open_source

RECORDS = "".join(f"p{number},{number % 9},f,{number % 5}\n" for number in range(40))
FOOTERS = [
    "Total,,,\n",
    "Summe:,,,170\n",
    '"Grand total",,,170\n\n',
    "итого,,,\n",
    "Source: Statistics Office,,,\n",
    "Numbers may not add up to totals,,,\n",
]
NO_FOOTERS = [
    "",
    "p41,,,\n",
    "Anna Smith,,,\n",
    "total,4,f,1\n",
    "p41,,,\nTotal,,,\n",  # one line as empty as the last: records of little
    "p41,1,m,\n",
]


def read(folder: Path, footer: str, *, encoding: str = "utf-8") -> int:
    file = folder / "people.csv"
    file.write_text(f"name,age,sex,visits\n{RECORDS}{footer}", encoding=encoding)
    con, name = open_source(str(file))
    return int(con.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0])


@pytest.mark.parametrize("footer", FOOTERS)
def test_a_total_or_note_below_the_records_is_refused(tmp_path: Path, footer: str) -> None:
    with pytest.raises(
        OutOfDomainError, match="must end with a record, got a last line"
    ) as refused:
        read(tmp_path, footer)
    assert footer.split(",", 1)[0].strip('"') not in str(refused.value)


@pytest.mark.parametrize("footer", NO_FOOTERS)
def test_a_last_record_is_read_whatever_it_lacks(tmp_path: Path, footer: str) -> None:
    assert read(tmp_path, footer) == 40 + len(footer.splitlines())


def test_a_published_table_ends_with_its_total(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(
        "age,sex,region,people\n30,f,a,7\n30,f,,7\n30,,,7\nTotal,,,7\n", encoding="utf-8"
    )
    con, name = open_source(str(file))
    assert con.execute(f"SELECT count(*) FROM {name}").fetchall() == [(4,)]


def test_a_first_line_that_is_a_record_is_not_quoted_as_names_that_repeat(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("7345,7345,f\n7345,20,f\n7345,30,m\n", encoding="utf-8")
    with pytest.raises(OutOfDomainError) as refused:
        open_source(str(file))
    assert "7345" not in str(refused.value)
