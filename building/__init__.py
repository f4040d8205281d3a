"""What `build.py` is made of: pins, virtual environments, and the packaged extension. Starts on old
Pythons too.
"""
