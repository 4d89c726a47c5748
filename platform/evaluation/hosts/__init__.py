"""The machines that workers run on: how fast they are, what that admits, what they counted."""
