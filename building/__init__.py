"""What `build.py` does: pins, virtual environments, packaging. Starts on old Pythons too."""
