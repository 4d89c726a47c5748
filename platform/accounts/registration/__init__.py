"""Who an organisation is: participation rules accepted, data registered, verified by two people, and again in time."""
