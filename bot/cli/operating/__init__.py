"""What can an operator do from a terminal: run the bot, read histories, maintain record and queue?"""
