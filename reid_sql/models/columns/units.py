"""What the values of a watched column stand for, and what is counted of them; imports no list of words."""

from typing import Final

MAX_TEXTS_COMPARED: Final = 100_000  # distinct ones of a sensitive column
UNIT_PERSON: Final = "person"
UNIT_HOUSEHOLD: Final = "household"
UNIT_VALUE: Final = "value"  # of a sensitive column, in which no value stands for nobody
COUNTS_OF_NOBODIES: Final = (
    "sizes",
    "codes",
    "code_rows",
    "others",
    "numbers",
    "least",
    "greatest",
    "alike",
)
