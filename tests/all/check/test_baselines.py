"""What the first tier leaves of tests/check/test_baselines.py."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest

from reid_sql.check.gate import check
from reid_sql.check.report import KEY_VARIABLE, to_json
from reid_sql.errors import ReidError
from tests.check.test_baselines import CHECKS, digest
from tests.check.towns import town


def test_with_a_key_only_a_signed_baseline_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = town(tmp_path, CHECKS)
    unsigned = to_json(check(file))
    monkeypatch.setenv(KEY_VARIABLE, "first key")
    page = json.loads(to_json(check(file)))
    assert (
        page["signature"]
        == hmac.new(b"first key", page["digest"].encode(), hashlib.sha256).hexdigest()
    )
    (tmp_path / "signed.json").write_text(json.dumps(page), encoding="utf-8")
    assert check(file, tmp_path / "signed.json")["verdict"] == "no worse"
    (tmp_path / "unsigned.json").write_text(unsigned, encoding="utf-8")
    page["checks"][1]["groups"][0] |= {"value": 0.5, "judged": 0.5}
    page["digest"] = digest(page)
    (tmp_path / "edited.json").write_text(json.dumps(page), encoding="utf-8")
    for name in ("unsigned.json", "edited.json"):
        with pytest.raises(ReidError, match=f"not made with the key in {KEY_VARIABLE}"):
            check(file, tmp_path / name)
    monkeypatch.setenv(KEY_VARIABLE, "second key")
    with pytest.raises(ReidError, match=f"not made with the key in {KEY_VARIABLE}"):
        check(file, tmp_path / "signed.json")
