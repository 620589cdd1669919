"""A release: which forms of the columns meet a policy at the least loss, found on distinct records alone."""
