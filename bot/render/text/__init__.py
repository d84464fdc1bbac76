"""How does a record look as text?"""
