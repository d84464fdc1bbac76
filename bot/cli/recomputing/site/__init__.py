"""How is a site of files made from clones: who agreed, their records, the months, and what is written again?"""
