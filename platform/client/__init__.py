"""What an outsider runs: the verifier of the transparency log. No Django, no database, no network but where asked."""
