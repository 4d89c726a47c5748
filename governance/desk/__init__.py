"""Cases that group alarms and links, reviewers' decisions, and holds with their clock."""
