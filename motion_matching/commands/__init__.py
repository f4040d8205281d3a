"""The commands of the command line, each in its module, and what they share."""
