"""The distribution of one column: shares of its values, seen and unseen, with or without an order."""
