"""What can anybody compute again from clones, and does a published profile say the same?"""
