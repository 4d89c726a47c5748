"""Trusted publishers: a CI job proves by its own identity who it is, and gets credentials for one harness.

Nobody keeps a secret for it. `verification` believes a token or says why not, `policies` compares it with what a
vendor registered, `services` exchanges it for two credentials that are kept as hashes only.
"""
