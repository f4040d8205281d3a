"""The built-in motion: locomotion clips generated from a seed, which the package ships as data."""
