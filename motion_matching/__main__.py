"""`python -m motion_matching`: the command line."""

import sys

from .cli import main

sys.exit(main())
