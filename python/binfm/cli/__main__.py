"""`python -m binfm.cli` is `binfm`."""

import sys

from binfm.cli import main

sys.exit(main())
