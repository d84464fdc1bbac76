"""Which errors are shown to a person? One line that says what to do, and exit code 2 on the command line."""

import errno

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""the system's error codes for a full disk"""
NO_TEMPORARY_FILE = "make room for temporary files, or name their folder in TMPDIR"
"""what to do if a temporary file cannot be created"""


class UnusableInputError(Exception):
    """Input from a person cannot be used. The text is one line and says what to do."""
