"""The installed samplers, compared with the distributions that are priced."""
