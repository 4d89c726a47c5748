"""The model gateway: the only way from an episode to a model, and the only counter of its tokens. No Django."""
