"""Finding accounts that may belong together, and what joining them means for quota and admission."""
