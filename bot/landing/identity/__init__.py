"""Who did it?"""
