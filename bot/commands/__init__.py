"""One function a command, in one file a subject; `bot/cli.py` is the visible list."""
