"""What is made of what was measured."""
