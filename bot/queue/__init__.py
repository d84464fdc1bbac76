"""Work to be done later: one small interface, two engines behind it, the same rows and the same behaviour."""
