"""How does a record look in a browser?"""
