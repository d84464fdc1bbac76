"""What does Almanac post on GitHub?"""
