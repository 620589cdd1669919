"""Compare a release with its original: what changed, what was lost, and how well records can be linked."""
