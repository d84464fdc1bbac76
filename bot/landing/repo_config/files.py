"""Which files of a repository define how it is measured?"""

CONFIG_PATH = ".github/almanac.yml"
ATTRIBUTES_PATH = ".gitattributes"
