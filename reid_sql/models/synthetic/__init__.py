"""What a synthetic or perturbed table gives away of the people that it was made from."""
