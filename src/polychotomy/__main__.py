"""``python -m polychotomy`` is the command ``polychotomy``."""

from polychotomy.cli import main

main()
