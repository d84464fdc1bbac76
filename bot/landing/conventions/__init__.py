"""How did a commit land, and what does that prove?"""
