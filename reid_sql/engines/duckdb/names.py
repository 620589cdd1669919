"""Names that the parts of the engine share, and what no name of a place can protect."""

from typing import Final

import duckdb

BUILTIN: Final = "system.main."  # the place of DuckDB's functions, and of our Python functions
HOME: Final = "reid_home.main."  # placeholder of the catalogue of our macros
DATABASE: Final = "reid_database"  # a Python function: the text by which this database's models are found
PLAN: Final = "reid_plan"  # a Python function: the query of a call, as text
REFUSE: Final = "reid_refusal"  # a Python function: a refusal of what only the query can see, or NULL
BEGIN: Final = "reid_begin"  # a Python function: begins a body, and returns the number to ask it by
# A macro may have the name of one of these, and no name of a place can stand before them.
OPERATORS: Final = (
    *("+", "-", "*", "/", "//", "%", "||", "~~", "!~~"),
    *("list_value", "struct_pack", "array_extract", "struct_extract", "array_slice"),
)
REDEFINED: Final = (
    "the operators and literals of SQL must be DuckDB's own, got a macro named like one of "
    f"{' '.join(OPERATORS)}; drop it, or give it another name"
)
VERSION: Final = tuple(map(int, duckdb.__version__.split(".")[:2]))
SHOWS_TYPES: Final = VERSION >= (1, 5)  # whether it has get_type
READS_QUOTES: Final = VERSION >= (2, 0)  # else query_table leaves them out of a name, and reads another table
