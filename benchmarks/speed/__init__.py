"""How fast is the bot, beside a floor measured in the same run? `python -m benchmarks.speed`."""
