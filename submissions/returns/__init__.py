"""Returns of a use by staff: one proposes with a reason, another approves; the vendor reads the reason."""
