"""How does an installation come by its App, and deliveries to a machine that GitHub cannot reach?"""
