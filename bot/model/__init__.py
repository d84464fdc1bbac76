"""The types of the record, all frozen: the vocabulary that all packages of Almanac share.

A commit that reaches a default branch is a `Landing`; measuring it gives a `Fact`; facts of the same
work group fold into one `Change`; a person's changes become a `Profile`. Times are aware UTC datetimes at the edges and
whole epoch seconds inside a `Fact`. Counts are integers.
"""
