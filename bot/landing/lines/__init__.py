"""Which lines changed, in which part and language?"""
