"""What a policy says."""
