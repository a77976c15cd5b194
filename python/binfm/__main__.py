"""`python -m binfm` is `binfm`."""

import sys

from binfm.cli import main

sys.exit(main())
