"""`python -m embedded start|stop|status`: the services without the site."""

import argparse
import sys

from embedded.keeper import act, add_arguments


def main() -> int:
    """Parse the arguments and act."""
    parser = argparse.ArgumentParser(prog="python -m embedded", description=__doc__)
    add_arguments(parser)
    given = parser.parse_args()
    return act(given.action, given.state_dir, as_json=given.as_json, watched=given.watch_pid)


if __name__ == "__main__":
    sys.exit(main())
