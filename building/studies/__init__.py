"""Studies of what the engine makes: `python3 build.py study quality`, or `retargeting`.

Each take and each pair is measured on one thread, and several at a time. Libraries read these variables when
numpy is first imported, hence here.
"""

import os

for _name in (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
):
    os.environ[_name] = "1"
