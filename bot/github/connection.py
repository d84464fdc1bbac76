"""Which client acts for which installation?

Each installation has its own lane and ETag cache: gidgethub's cache uses only the address as its key, so two tokens on
one cache would see each other's answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import aiohttp
from cachetools import LRUCache
from msgspec import Struct, field

from bot.github.addressing import Addressing
from bot.github.auth import AppKey, InstallationCredential, Tokens, TokenScope
from bot.github.client import Client, InstallationLink
from bot.github.lane import Lane, OwnPace, Pace
from bot.github.limits import Clock, RequestPace
from bot.github.transport import Endpoint, Traffic, Transport
from bot.model.ids import InstallationId, RepositoryId

_INSTALLATIONS = 1024


class Surroundings(Struct, frozen=True):
    """What the composition root configures once for all clients."""

    endpoint: Endpoint = field(default_factory=Endpoint)
    pace: RequestPace = field(default_factory=RequestPace)
    clock: Clock = field(default_factory=Clock)
    shared: Callable[[InstallationId], Pace] | None = None
    """the pace shared with other processes; None if there is only this one"""
    names: Callable[[RepositoryId], Awaitable[str | None]] | None = None
    """the last known full name of a repository, for a host that finds none by its id"""


class Connection:
    """One App's access to GitHub."""

    def __init__(
        self, session: aiohttp.ClientSession, *, app_id: str | int, private_key: str | bytes, surroundings: Surroundings
    ) -> None:
        self._surroundings = surroundings
        self.traffic = Traffic()
        self._addressing = Addressing(surroundings.endpoint.by_name or None, surroundings.names)
        self.transport = Transport(session, surroundings.endpoint, self.traffic)
        self._key = AppKey(app_id, private_key, clock=surroundings.clock)
        self._apps_own_pace = OwnPace(surroundings.clock)
        self.app = Client(self._wire(), self._key)
        """acts as the App itself"""
        self._tokens = Tokens(self._minter, clock=surroundings.clock)
        self._minters: LRUCache[InstallationId, Client] = LRUCache(_INSTALLATIONS)
        self._wires: LRUCache[InstallationId, InstallationLink] = LRUCache(_INSTALLATIONS)

    def installation(
        self,
        installation: InstallationId,
        *,
        repositories: tuple[RepositoryId, ...] = (),
        permissions: Mapping[str, str] | None = None,
        urgent: bool = True,
    ) -> Client:
        """A client whose token covers these repositories (none: all) with these permissions (none: all granted)."""
        wire = self._wires.get(installation)
        if wire is None:
            wire = self._wires[installation] = self._wire(installation)
        scope = TokenScope.of(installation, repositories=repositories, permissions=permissions)
        return Client(wire, InstallationCredential(self._tokens, scope), urgent=urgent)

    def _minter(self, installation: InstallationId) -> Client:
        """Creates the tokens of one installation, in a lane of their own: nobody waits for another one's token.

        A pause that GitHub demands of the App is a pause for all of them.
        """
        minter = self._minters.get(installation)
        if minter is None:
            minter = self._minters[installation] = Client(self._wire(), self._key)
        return minter

    def _wire(self, installation: InstallationId | None = None) -> InstallationLink:
        surroundings = self._surroundings
        shared: Pace | None = self._apps_own_pace
        if installation is not None:
            shared = surroundings.shared(installation) if surroundings.shared is not None else None
        lane = Lane(surroundings.pace, surroundings.clock, shared)
        return InstallationLink(
            self.transport,
            surroundings.endpoint,
            lane,
            surroundings.pace,
            surroundings.clock,
            "app" if installation is None else str(installation),
            self._addressing,
        )
