"""What each attribute of a person adds to how unique a fitted model says they are."""
