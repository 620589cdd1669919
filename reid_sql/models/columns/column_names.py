"""Names of columns that say what their values are: the numbers of rows, or names of people."""

import re
from typing import Final

MAX_GAPS_IN_SEQUENCE: Final = 6
# Names that R, pandas and readers of CSV give to the numbers of rows, which have no name in the file.
ROW_NUMBER_NAME: Final = re.compile(
    r"^(|column0+|unnamed: ?\d+|row_?(names?|numbers?|nr)?|index|x\.?1?|\.\.\.1)$", re.IGNORECASE
)
PERSONAL_NAME: Final = re.compile(
    r"(^|_|\b)((first|last|given|family|middle|full|maiden|sur|vor|nach|user)[_ ]?name|name)s?$",
    re.IGNORECASE,
)
