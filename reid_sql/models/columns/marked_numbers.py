"""Numbers as people write them: with marks between thousands, a decimal comma, a currency or a percent sign.

Lists of codes of three digits, 100,200,300, are written like one, and are none.
"""

import re
from typing import Final

# What is between the thousands of a number, and before its fraction, in the order in which they are tried:
# 1,265.50 is American, 1.265,50 German, 1'265.50 Swiss, and 1 265,50 French.
NUMBER_MARKS: Final = (",.", ".,", "'.", "\u2019.", " ,", "\u00a0,", "\u202f,")
SIGN: Final = "[€$£¥₹₽₴₺₩₪₫₱₦฿]"
CURRENCY: Final = (
    f"({SIGN}|R[$]|[Ee][Uu][Rr]|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|TRY|JPY|CNY|INR|kr|zł|Kč|Ft|lei|лв|"
    "руб|грн|円|元|원)"
)
UNIT: Final = f"({CURRENCY}|%)"
SPACE: Final = "[ \u00a0\u202f]"
# what one of these may be
MARKED_NUMBER: Final = (
    f"[+-]?({UNIT}{SPACE}?)?[+-]?[0-9]([0-9.,'\u2019 \u00a0\u202f]*[0-9])?({SPACE}?{UNIT})?"
)
AROUND_NUMBER: Final = f"{UNIT}{SPACE}?|{SPACE}?{UNIT}"
# of as many amounts of 100 to 999 thousand, hardly none has a zero behind the mark: 0.9 ** 44 is 1 %
MIN_PAIRS: Final = 44
PAIRS: Final = "[1-9][0-9]{2}[.,'\u2019 \u00a0\u202f][1-9][0-9]{2}"
CODES: Final = "[0-9]{3}([.,'\u2019 \u00a0\u202f][0-9]{3})*"  # what a list of them may be


def number_pattern(marks: str) -> str:
    """Write the pattern of numbers with these marks; with commas between thousands, all thousands have them.

    So 0,125 and 12,5 are no such numbers, and 1,265 is one. Whole numbers may lack the marks of others.
    Behind the two marks may be a unit, which is before or behind the number.

    >>> import re
    >>> [bool(re.fullmatch(number_pattern(",."), each)) for each in ("1,265.5", "905", "12,5", "1265")]
    [True, True, False, False]
    >>> [bool(re.fullmatch(number_pattern(".,"), each)) for each in ("1.265,5", "905", "12,5", "1265")]
    [True, True, True, True]
    >>> [bool(re.fullmatch(number_pattern(".,€"), each)) for each in ("€ 1.265,50", "-12,5 €", "12", "$ 12")]
    [True, True, True, False]
    """
    between, before, unit = marks[0], marks[1], marks[2:]
    grouped = f"[1-9][0-9]{{0,2}}([{between}][0-9]{{3}}){{0,9}}"
    whole = f"0|{grouped}" if between == "," else f"[0-9]{{1,30}}|{grouped}"
    sign = "-?" if between.isspace() else "[+-]?"  # +49 123 456 is called
    number = f"({whole})([{before}][0-9]{{1,20}})?"
    if not unit:
        return f"{sign}{number}"
    written = re.sub(r"(\W)", r"[\1]", unit)  # a backslash is not the same in all dialects
    return f"({sign}({written}{SPACE}?)?|{written}{SPACE}?{sign}){number}({SPACE}?{written})?"
