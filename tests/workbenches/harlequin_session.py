"""Start Harlequin's own adapter with a script, as its command does, and run the statements that come in."""

import json
import sys

from harlequin.exception import HarlequinQueryError
from harlequin_duckdb.adapter import DuckDbAdapter

asked = json.load(sys.stdin)
connection = DuckDbAdapter(conn_str=(":memory:",), init_path=asked["script"]).connect()


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
