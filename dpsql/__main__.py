"""``python -m dpsql`` is the command ``dpsql``,
for environments whose scripts are not on the PATH.
"""

from dpsql.cli import main

if __name__ == "__main__":
    main()
