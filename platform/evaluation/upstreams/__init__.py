"""Model upstreams: registered endpoints whose models a harness may call, with sealed credentials and limits."""
