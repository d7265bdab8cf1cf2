"""`python -m commonir` is the command line."""

import sys

from commonir.cli.main import main

sys.exit(main())
