"""How does a record look as a picture?"""
