"""`python -m historycompat`."""

from historycompat.cli import main

if __name__ == "__main__":
    main()
