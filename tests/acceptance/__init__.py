"""Does the bot work on a GitHub that this project did not write? `python -m tests.acceptance` uses npm `emulate`."""
