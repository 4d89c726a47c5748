"""`python -m client.audit` is the command `lgbench-audit`."""

import sys

from client.audit.main import main

sys.exit(main())
