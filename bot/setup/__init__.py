"""How does an installation get its App, and how do deliveries reach a machine that GitHub cannot?"""
