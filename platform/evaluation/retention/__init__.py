"""How long what attempts left is kept, by class, and its purge. Digests stay."""
