"""The benchmark: ratios within one run, never a time; `python -m tests.bench` from the top of the repository."""
