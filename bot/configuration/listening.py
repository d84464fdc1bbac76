"""Which socket does the server listen on, if a supervisor opened one for it?"""

from __future__ import annotations

import os
import socket

_FIRST = 3
"""the first descriptor that is passed: https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html"""


def passed_socket() -> socket.socket | None:
    """A copy of the listening socket that systemd passed to this process; None if it passed none.

    systemd keeps the socket open while the bot restarts, so that connections wait and none is refused.
    """
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or not int(os.environ.get("LISTEN_FDS") or 0):
        return None
    return socket.socket(fileno=os.dup(_FIRST))
