"""Which errors are shown to a person? One line that says what to do, and exit code 2 on the command line."""

import errno

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""what the system reports for a full disk"""
NO_TEMPORARY_FILE = "free some space for temporary files, or set TMPDIR to another folder"
"""what to do if no temporary file can be created"""


class UnusableInputError(Exception):
    """Input from a person cannot be used. The text is one line and says what to do."""
