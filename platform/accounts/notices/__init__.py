"""Notices to people: what happened to something of theirs, in the site and, as they prefer, by mail."""
