"""How fast is the bot, compared with a floor measured in the same run? `python -m benchmarks.speed`."""
