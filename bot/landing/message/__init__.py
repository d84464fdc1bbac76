"""What does a commit message say?"""
