"""Which servers does `benchmarks.speed.accept` drive? A floor, ours, and those of other libraries."""
