"""What commands show on a terminal: pages of figures, and progress."""
