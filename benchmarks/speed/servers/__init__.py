"""The servers that `benchmarks.speed.accept` drives: a floor, ours, and others' libraries."""
