"""What does Almanac do: record, post, answer, remember and forget?"""
