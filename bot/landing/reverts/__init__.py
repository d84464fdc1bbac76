"""What was reverted, and what landed again?"""
