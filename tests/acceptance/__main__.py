"""`python -m tests.acceptance <area>`."""

import sys

from tests.acceptance.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
