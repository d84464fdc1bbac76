"""Does GitHub say that whoever a people file names authored the commit that added the line?"""

from __future__ import annotations

import json
import os
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from bot.configuration.errors import UnusableInputError
from bot.history.clone import Clone
from bot.landing.identity.addresses import plain_email
from bot.landing.identity.consent import OwnEntry

_API = "https://api.github.com"
_SECONDS = 30


def ask_github(clone: Clone, one: OwnEntry) -> str | None:
    """Why the entry does not count; None if it does. The address of the API and the token come from the environment
    of GitHub Actions. Raises UnusableInputError if GitHub cannot be asked.
    """
    path = f"repos/{clone.repository.full_name}/commits/{one.commit}"
    login = _author(path)
    if login is None:
        return f"GitHub knows no account for the author of commit {one.commit[:10]}"
    if one.entry.casefold() == login.casefold() or plain_email(one.entry) == plain_email(one.author.email):
        return None
    return f"GitHub names another account as the author of commit {one.commit[:10]}; write that account's login"


def _author(path: str) -> str | None:
    """The login of the commit's author as GitHub resolves it."""
    address = f"{os.environ.get('GITHUB_API_URL', _API).rstrip('/')}/{path}"
    token = os.environ.get("GITHUB_TOKEN")
    headers = {"Accept": "application/vnd.github+json", "User-Agent": "almanac"}
    request = Request(address, headers=headers | ({"Authorization": f"Bearer {token}"} if token else {}))  # noqa: S310 (the address is the runner's)
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 (the address is the runner's)
            author = json.load(answer).get("author")
    except HTTPError as error:
        raise UnusableInputError(f"GitHub answered {error.code} to {address}; give the job contents: read") from None
    except (URLError, ValueError, AttributeError) as error:
        raise UnusableInputError(f"cannot ask GitHub at {address}: {getattr(error, 'reason', error)}") from None
    login = author.get("login") if isinstance(author, dict) else None
    return login if isinstance(login, str) else None
