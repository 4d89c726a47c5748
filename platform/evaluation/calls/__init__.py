"""Model calls of episodes: which models a run may reach, what was counted, when an upstream is left alone."""
