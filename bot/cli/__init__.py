"""How is the command line organised? One function per command, one file per subject; `bot/cli/main.py` lists them."""
