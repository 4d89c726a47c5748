"""The Merkle tree of the transparency log and the formats around it: RFC 6962 hashing and the C2SP documents.

Pure: standard library and `cryptography`; no Django, no database, so that an auditor's verifier can carry it.
"""
