"""One function per command, one file per subject; `bot/cli/main.py` is the visible list."""
