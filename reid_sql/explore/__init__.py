"""One page on which a person chooses what others know and how exact it is released, and sees the risk."""
