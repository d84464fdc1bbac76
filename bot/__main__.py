"""`python -m bot` is `almanac`."""

from bot.cli import main

main()
