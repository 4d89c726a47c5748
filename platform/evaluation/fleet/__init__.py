"""What staff order of the fleet: pauses, drains, quarantines."""
