"""Webhooks: signed messages to an address of an organisation's own, about what its pages show already."""
