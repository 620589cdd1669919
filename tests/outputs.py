"""The outputs of every function, by their keys: of most functions there is one."""

from reid_sql.function import Function
from reid_sql_udfs import declared


def outputs() -> dict[str, Function]:
    """Every output, by its key; no key is that of two."""
    listed = [each for function in declared().values() for each in function.all_outputs]
    assert len({each.key for each in listed}) == len(listed)
    return {each.key: each for each in listed}
