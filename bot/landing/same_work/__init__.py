"""Which commits are the same work?"""
