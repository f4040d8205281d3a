"""Plain functions on arrays: quaternions and springs."""
