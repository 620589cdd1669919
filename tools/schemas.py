"""The JSON Schema of a policy, for editors."""

import json

from reid_sql.check.schema import policy_schema


def policy() -> str:
    """Write reid_sql/check/policy.schema.json."""
    return json.dumps(policy_schema(), ensure_ascii=False, indent=1) + "\n"
