"""What does an operator do from a terminal: run the bot, read the past, look after record and queue?"""
