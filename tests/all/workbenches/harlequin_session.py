"""Start an adapter of Harlequin, as its command does, and run the statements that come in."""

import importlib
import json
import sys

from harlequin.exception import HarlequinQueryError

asked = json.load(sys.stdin)
module, _, name = asked["adapter"].partition(":")
adapter = getattr(importlib.import_module(module), name)
connection = adapter(
    conn_str=(asked["database"],), init_path=asked.get("script"), no_init="script" not in asked
).connect()


def answered(statement: str) -> object:
    try:
        cursor = connection.execute(statement)
        table = cursor.fetchall() if cursor else None
    except HarlequinQueryError as error:
        return error.msg
    return table.to_pylist() if table is not None else None


completions = [each.label for each in connection.get_completions()]
answers = [answered(each) for each in asked["statements"]]
print(json.dumps({"answers": answers, "completions": completions}))  # noqa: T201 - what the test reads
