"""`python -m plimsoll`: the command line."""

from plimsoll.cli import main

if __name__ == "__main__":
    main()
