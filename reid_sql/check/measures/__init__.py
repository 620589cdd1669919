"""What a policy can bound, and how it is measured."""
