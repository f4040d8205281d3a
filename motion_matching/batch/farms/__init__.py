"""Write a batch for farms: each module turns a `Job` into the files that one farm takes."""

from . import flamenco, openjd, slurm
from .steps import FarmTask
from .writing import write_files
