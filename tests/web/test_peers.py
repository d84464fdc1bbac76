"""Who sent a request, directly or through a proxy?"""

from __future__ import annotations

import pytest
from aiohttp.test_utils import make_mocked_request

from bot.configuration.addresses import networks_of
from bot.web.peers import LOCAL, NO_PROXY, Peers, peer_key

PROXY = Peers(networks_of("10.0.0.1, 10.1.0.0/16, fd00::/8"))


def sender(peers: Peers, remote: str, *forwarded: str) -> tuple[str, str | None]:
    headers = [("X-Forwarded-For", one) for one in forwarded]
    request = make_mocked_request("GET", "/", headers=dict(headers)).clone(remote=remote)
    return peers.sender(request), peers.limited_address(request)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("", LOCAL),
        ("no address", LOCAL),
    ],
)
def test_one_customer_is_one_key(address: str, key: str) -> None:
    assert peer_key(address) == key


def test_nobody_without_a_named_proxy_can_name_another_sender() -> None:
    assert sender(NO_PROXY, "8.8.8.8", "9.9.9.9") == ("8.8.8.8", "8.8.8.8")
    assert sender(NO_PROXY, "127.0.0.1", "9.9.9.9") == ("127.0.0.1", None)
    assert sender(PROXY, "8.8.8.8", "9.9.9.9") == ("8.8.8.8", "8.8.8.8")


@pytest.mark.parametrize(
    ("forwarded", "key"),
    [
        ("9.9.9.9", "9.9.9.9"),
        ("1.1.1.1, 9.9.9.9", "9.9.9.9"),
        ("1.1.1.1, 9.9.9.9, 10.1.2.3", "9.9.9.9"),
        ("1.1.1.1, nonsense", "10.0.0.1"),
        ("10.1.2.3", "10.0.0.1"),
        ("", "10.0.0.1"),
        ("9.9.9.9," * 5000 + "2001:db8::1", "2001:db8::/64"),
    ],
)
def test_a_named_proxy_names_the_sender(forwarded: str, key: str) -> None:
    assert sender(PROXY, "10.0.0.1", forwarded) == (key, key)


def test_a_setting_that_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="addresses or networks"):
        networks_of("proxy.example.com")
