"""`python -m leat` is the command leat."""
from leat.command import leat

if __name__ == "__main__":
    leat()
