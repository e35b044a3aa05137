"""`python -m leat` is the command leat."""
from leat.command import leat

leat()
