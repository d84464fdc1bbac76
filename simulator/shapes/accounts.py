"""How does GitHub represent accounts, Apps and installations in JSON?"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

from simulator.state import Json, SimAccount, SimApp, SimInstallation, SimToken
from simulator.web_host import web

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


def stamp(when: datetime) -> str:
    """A time as GitHub formats it."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def maybe_stamp(when: datetime | None) -> str | None:
    return stamp(when) if when else None


def user(api: str, account: SimAccount) -> Json:
    """A simple user, as embedded in other objects."""
    url = f"{api}/users/{quote(account.login)}"
    page = f"apps/{account.login.removesuffix('[bot]')}" if account.login.endswith("[bot]") else account.login
    return {
        "login": account.login,
        "id": account.id,
        "node_id": f"U_{account.id}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{web()}/{page}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": account.type,
        "site_admin": False,
    }


def maybe_user(api: str, account: SimAccount | None) -> Json | None:
    return user(api, account) if account else None


def public_user(api: str, account: SimAccount) -> Json:
    """A user requested directly."""
    empty = dict.fromkeys(("company", "location", "email", "hireable", "bio"))
    counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    dates = {"created_at": stamp(EPOCH), "updated_at": stamp(EPOCH)}
    return {
        **user(api, account),
        "user_view_type": "public",
        "name": account.name,
        "blog": "",
        **empty,
        **counts,
        **dates,
    }


def app(api: str, found: SimApp) -> Json:
    return {
        "id": found.id,
        "slug": found.slug,
        "node_id": f"A_{found.id}",
        "owner": user(api, found.owner),
        "name": found.slug.replace("-", " ").title(),
        "description": "",
        "external_url": "https://example.invalid",
        "html_url": f"{web()}/apps/{found.slug}",
        "created_at": stamp(EPOCH),
        "updated_at": stamp(EPOCH),
        "permissions": found.permissions,
        "events": found.events,
        "installations_count": 1,
    }


def installation(api: str, found: SimInstallation) -> Json:
    url = f"{api}/app/installations/{found.id}"
    return {
        "id": found.id,
        "account": user(api, found.account),
        "repository_selection": "all" if found.selection is None else "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{api}/installation/repositories",
        "html_url": f"{web()}/organizations/{found.account.login}/settings/installations/{found.id}",
        "app_id": found.app.id,
        "app_slug": found.app.slug,
        "target_id": found.account.id,
        "target_type": found.account.type,
        "permissions": found.app.permissions,
        "events": found.app.events,
        "created_at": stamp(found.created_at),
        "updated_at": stamp(found.created_at),
        "single_file_name": None,
        "suspended_by": None,
        "suspended_at": maybe_stamp(found.suspended_at),
    }


def token(found: SimToken) -> Json:
    return {
        "token": found.value,
        "expires_at": stamp(found.expires_at),
        "permissions": found.permissions,
        "repository_selection": "all" if found.repositories is None else "selected",
    }
