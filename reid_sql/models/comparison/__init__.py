"""A release beside its original: what changed, what is lost, and how well records are linked back."""
