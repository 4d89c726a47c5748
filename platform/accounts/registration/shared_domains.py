"""Domains at which anybody gets an address, so that a mail received there says nothing of an organisation.

Kept by hand: large public providers of mail (`lists/mail_providers.txt`), and endings under which registries give out
names. Whoever does own such a domain proves it by a DNS record.
"""

from __future__ import annotations

import re
from pathlib import Path

PROVIDERS = frozenset((Path(__file__).parent / "lists/mail_providers.txt").read_text("ascii").split())
FAMILIES = re.compile(r"(?:yahoo|hotmail|outlook|live|windowslive|msn|gmx|yandex)\.(?:com?\.)?[a-z]{2}")
"""Providers with a domain in each country."""
ENDINGS = re.compile(
    r"(?:(?:ac|co|com|edu|gob|gouv|gov|go|ltd|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}"
    r"|(?:eu|us)\.(?:com|org)|github\.io|gitlab\.io|pages\.dev|web\.app|vercel\.app|netlify\.app)"
)
"""Endings below which names belong to many."""


def is_shared(domain: str) -> bool:
    """Whether mail at this domain (in ASCII and small letters) is anybody's: a provider's, below one, or an ending."""
    labels = domain.split(".")
    parents = {".".join(labels[at:]) for at in range(len(labels) - 1)}
    if any(name in PROVIDERS or FAMILIES.fullmatch(name) for name in parents):
        return True
    return bool(ENDINGS.fullmatch(domain))
