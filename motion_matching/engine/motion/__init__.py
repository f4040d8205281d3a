"""Clips and what is made from them: skeletons, simulation bones, contacts, mirror images."""
