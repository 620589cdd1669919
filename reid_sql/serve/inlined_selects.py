"""SELECTs that only name columns of a table, which are put where they are read.

A column must keep its name, and be no field of another one: else another column would be counted.
"""

from typing import Any, Final

from reid_sql.serve.allowed import refuse_unknown
from reid_sql.serve.tree import Node, path_of, replaced

NOTHING_ELSE: Final[tuple[Any, ...]] = (
    None,
    [],
    {"map": []},
    "STANDARD_HANDLING",
)  # in a part of a SELECT

NARROWING: Final = ("exclude_list", "replace_list", "expr", "relation_name", "alias")  # of a star


def reads_columns(node: Node) -> bool:
    """Whether a SELECT is `SELECT * FROM … WHERE …`, or of columns by their names, and nothing else."""
    if node.get("type") != "SELECT_NODE" or _has_more(node):
        return False
    listed = node["select_list"]
    for each in listed:
        refuse_unknown(each)
    if listed[0]["type"] == "STAR":
        return len(listed) == 1 and not any(map(listed[0].get, NARROWING))
    names = [_name_in(each, node["from_table"]) for each in listed]
    return None not in names and len(set(names)) == len(names)


def _has_more(node: Node) -> bool:
    read = ("type", "select_list", "from_table", "where_clause")
    return any(each not in NOTHING_ELSE for key, each in node.items() if key not in read)


def _name_in(part: Node, table: Node) -> str | None:
    """Return the name that a column of a table keeps; None for another, or for what may be a field of one."""
    if part["type"] != "COLUMN_REF":
        return None
    *places, name = (str(each).casefold() for each in part["column_names"])
    path = path_of(table, "table_name") if table["type"] == "BASE_TABLE" else []
    called = [str(table["alias"])] if table.get("alias") else path
    is_here = places in (
        [],
        *([each.casefold() for each in called[start:]] for start in range(len(called))),
    )
    is_named = str(part.get("alias") or name).casefold() == name
    return name if is_here and is_named else None


def replace_table(node: Node, name: str, other: Node) -> Node:
    """Put another table in place of one that WITH names, under the name that it is read by."""

    def change(part: Node) -> Node | None:
        path = path_of(part, "table_name") if part.get("type") == "BASE_TABLE" else []
        if [each.casefold() for each in path] != [name]:
            return None
        refuse_unknown(part)
        aliases = part.get("column_name_alias", [])
        return {**other, "alias": part["alias"] or path[0], "column_name_alias": aliases}

    changed: Node = replaced(node, change)
    return changed
