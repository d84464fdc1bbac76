"""Changelogs, release notes and news fragments: which files they are, and which entries a landing adds to them."""
