"""What can be recomputed from clones, and does a published profile agree with it?"""
