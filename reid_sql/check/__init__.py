"""The release gate: a policy, what the table shows, a verdict, and reports of it."""
