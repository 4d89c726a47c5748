"""The result of one submission over the API: what the release function returned, and nothing else."""

from __future__ import annotations
