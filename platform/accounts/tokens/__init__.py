"""Personal tokens: their text, how they are made, used, revoked and reported, and how their end is announced."""
