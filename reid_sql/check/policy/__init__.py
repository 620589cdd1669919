"""What is asked: tables, their files, checks and limits, read and refused in one sentence."""

from reid_sql.check.policy.policy import Policy, read_policy

__all__ = ["Policy", "read_policy"]
