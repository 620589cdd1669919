"""The time limit of a search is processor time."""

import time

from reid_sql.release.time_limit import limit_time


def test_waiting_uses_no_time_and_work_does() -> None:
    is_over = limit_time(0.05)
    time.sleep(0.2)
    assert not is_over()
    began = time.process_time()
    while time.process_time() - began < 0.06:
        sum(range(1000))
    assert is_over()
