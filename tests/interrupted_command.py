"""Run the command line, and press Ctrl-C while a library runs code that it has written itself."""

import os
import runpy
import signal
import sys


def _interrupt(event: str, arguments: tuple[object, ...]) -> None:
    file = getattr(arguments[0], "co_filename", "") if event == "exec" else ""
    if file.startswith("<decorator-gen"):
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.addaudithook(_interrupt)
    runpy.run_module("motion_matching", run_name="__main__", alter_sys=True)
