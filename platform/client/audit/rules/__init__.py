"""Rules across events: what a history must look like, whoever wrote it. Each module holds those of one subject."""

from client.audit.rules.base import Judge, Rule, Seen, known_without_rule, load

__all__ = ["Judge", "Rule", "Seen", "known_without_rule", "load"]
