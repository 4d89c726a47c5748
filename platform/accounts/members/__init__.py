"""Who belongs to an organisation and in which role: invitations, changes of role, leaving."""
