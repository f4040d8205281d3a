"""Measurements of building, searching and the tick: `python3 build.py bench [names] [--quick]`.

Everything is measured on one thread. Libraries read these variables when numpy is first imported,
hence here.
"""

import os

for _name in (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
):
    os.environ[_name] = "1"
