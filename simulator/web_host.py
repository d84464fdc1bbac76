"""Which GitHub is simulated? github.com, or the server that SIMULATED_HOST names."""

from __future__ import annotations

import os

from simulator.git import GitSignature

HOST = os.environ.get("SIMULATED_HOST", "github.com")


def web() -> str:
    """The address of its pages."""
    return f"https://{HOST}"


def noreply_domain() -> str:
    return f"users.noreply.{HOST}"


def web_flow() -> GitSignature:
    """Its own signature, when somebody presses a button."""
    return GitSignature("GitHub" if HOST == "github.com" else "GitHub Enterprise", f"noreply@{HOST}")
