"""How well somebody has signed in: second factors, fresh sign-ins, sessions and devices."""
