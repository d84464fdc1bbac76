"""What did the operator configure?"""
