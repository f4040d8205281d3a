"""Run the commands of the command line, each in its module, and share their parts."""
