"""The two-letter codes of countries (ISO 3166-1 alpha-2, as officially assigned)."""

from __future__ import annotations

from pathlib import Path

COUNTRIES = frozenset((Path(__file__).parent / "lists/countries.txt").read_text("ascii").split())
MISTAKEN = {"UK": "GB", "EL": "GR"}
"""Codes that are in use elsewhere, and what ISO 3166 says instead."""
