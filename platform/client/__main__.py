"""`python -m client` is `lgbench`."""

import sys

from client.cli import main

if __name__ == "__main__":
    sys.exit(main())
