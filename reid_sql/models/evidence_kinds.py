"""What a row of the reductions `pairs`, `people` and `evidence` counts: the codes in its column `second`.

A row above 0 counts a pair of values, and `second` is the number of the second column. All other kinds use
the remaining columns as follows; columns are numbered from 1.

| kind | first | label | first_value | records | mass | texts |
| --- | --- | --- | --- | --- | --- | --- |
| a pair of values | first column | | value of it | records with the pair | sum of weights | |
| VALUE | column | its name | value | records with the value | sum of weights | |
| MARGINAL_SHARE | column, 0 if unknown | its name | value | 0 | share from outside | |
| UNIQUE_RECORDS | 0 | | | records unique in all columns | 0 | |
| CLASS_SIZE | 0 | | | size of a class | classes of this size | |
| DRAWN_RECORD | 0 | | | size of its class | place in the draw, 0 to 1 | values by column |
"""

from typing import Final

VALUE: Final = 0
MARGINAL_SHARE: Final = -1
UNIQUE_RECORDS: Final = -2
CLASS_SIZE: Final = -3
DRAWN_RECORD: Final = -4
