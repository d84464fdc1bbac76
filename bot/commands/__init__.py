"""One function per command, one file per subject; `bot/cli.py` is the visible list."""
