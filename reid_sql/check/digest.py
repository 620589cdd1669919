"""A report's digest, and its signature where a key is given: what was edited later is no baseline."""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from typing import Any, Final

from reid_sql.check.figures import ReportPage

KEY_VARIABLE: Final = "REID_SQL_REPORT_KEY"
SEALS: Final = ("digest", "signature")


def seal(page: ReportPage) -> ReportPage:
    """Add the digest of all that the report contains, and its signature if the environment has a key.

    Whoever edits a report can write a new digest; a signature needs the key. An earlier seal is replaced.
    """
    digest = digest_of(page)
    page.update(zip(SEALS, (digest, sign(digest)), strict=True))
    return page


def digest_of(page: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a report without its seal, as JSON with sorted keys and no spaces."""
    content = {key: value for key, value in page.items() if key not in SEALS}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sign(digest: str) -> str | None:
    """Return the HMAC-SHA-256 of a digest (RFC 2104); None without a key."""
    key = os.environ.get(KEY_VARIABLE)
    return hmac.new(key.encode(), digest.encode(), hashlib.sha256).hexdigest() if key else None


def broken_seal(page: Mapping[str, Any]) -> str:
    """Say why a report is not as it was written; nothing if it is."""
    digest = digest_of(page)
    if not hmac.compare_digest(digest, str(page["digest"])):
        return "its digest is not that of its content"
    wanted = sign(digest)
    if wanted is not None and not hmac.compare_digest(wanted, str(page["signature"])):
        return f"its signature is not made with the key in {KEY_VARIABLE}"
    return ""
