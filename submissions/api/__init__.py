"""The REST API of submissions: HTTP in and out, nothing decided here."""
