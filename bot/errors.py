"""Which errors are told to a person: one line that says what to do, and exit 2 on the command line."""

import errno

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""what the system says where a disk takes no more"""
NO_TEMPORARY_FILE = "make room for temporary files, or name their folder in TMPDIR"
"""what to do where none can be made"""


class UnusableInputError(Exception):
    """Something a person gave cannot be used. The text is one line and says what to do."""
