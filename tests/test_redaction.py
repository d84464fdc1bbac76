"""Do logs and tracebacks contain no secrets?"""

import pickle

from bot.configuration.redaction import Redacted, Secret
from bot.configuration.settings import Settings, WriterSettings


class Login(Redacted, frozen=True):
    name: str
    password: Secret[str | None] = None
    tries: int = 0


def test_repr_leaves_secrets_out() -> None:
    assert repr(Login("ada", "hunter2", tries=2)) == "Login(name='ada', tries=2)"


def test_two_logins_with_other_secrets_are_not_equal() -> None:
    assert Login("ada", "a") != Login("ada", "b")
    assert Login("ada", "a") == pickle.loads(pickle.dumps(Login("ada", "a")))  # noqa: S301  # our own bytes


def test_no_setting_that_is_secret_is_printed() -> None:
    settings = Settings(
        private_key="SECRET-1",
        webhook_secrets=("SECRET-2",),
        client_secret="SECRET-3",
        relay="SECRET-4",
        database_url="SECRET-5",
        links_key=b"SECRET-6",
        snapshots_key="SECRET-7",
        metrics_token="SECRET-8",
        writer=WriterSettings(key="SECRET-9"),
    )
    assert "SECRET" not in repr(settings)
