"""What does a repository's `.github/almanac.yml` ask for?"""
