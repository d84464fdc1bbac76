"""Which files of a repository define how it is measured, and who has a page on its site?"""

CONFIG_PATH = ".github/almanac.yml"
ATTRIBUTES_PATH = ".gitattributes"
PEOPLE_PATH = ".github/almanac-people.yml"
"""people add themselves to it"""
