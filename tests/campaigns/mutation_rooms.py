"""Which lines do the promises rest on, and which tests should know them?"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tests.campaigns.mutants import Mutant


class Room(Struct, frozen=True):
    """Modules, each with the functions that are changed (all if none are named), and their tests, fastest first."""

    name: str
    modules: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]


class NamedMutant(Struct, frozen=True):
    """A change that passed every test at some time: this text is replaced by that one."""

    room: str
    text: str
    path: str
    before: str
    after: str

    def mutant(self, root: Path) -> Mutant:
        """Raises ValueError if the text does not stand there exactly once."""
        source = (root / self.path).read_text()
        if source.count(self.before) != 1:
            raise ValueError(f"{self.path} has not once: {self.before}")
        line = source[: source.index(self.before)].count("\n") + 1
        return Mutant(line, self.text, source.replace(self.before, self.after))


PUBLISHING = "bot/services/posting/publishing.py"
ROOMS = (
    Room("verifier", (("bot/web/signature.py", ""),), ("tests/web/test_signature.py",)),
    Room(
        "dedupe",
        (
            ("bot/store/inbox.py", "arrival store_arrivals _store_new _jobs_of accept body_of known_guids drop_bodies"),
            ("bot/store/ingest.py", "GroupWriter _answer_each _answer_all"),
        ),
        ("tests/store/test_ingest.py", "tests/services/test_pruning.py", "tests/path/test_deliveries.py"),
    ),
    Room(
        "ledger",
        (("bot/store/ledger.py", ""), ("bot/services/recording/record.py", "")),
        (
            "tests/store/test_ledger.py",
            "tests/store/test_record.py",
            "tests/services/test_recording.py",
            "tests/services/test_rebuilding.py",
            "tests/services/test_erasure.py",
        ),
    ),
    Room(
        "outbox",
        (
            (
                "bot/store/outbox.py",
                "add_intent take_back post_again withdraw claim renew mark_posted release _mine empty busy_until",
            ),
            (
                PUBLISHING,
                (
                    "request_post release_failed claim_post hold_lease save_post _is_too_old_to_replace "
                    "publish_claimed is_first LEASE REPLACED_WITHIN"
                ),
            ),
            ("bot/jobs/publish_post.py", ""),
            ("bot/github/posts.py", "marker Ourselves check_run comment replace_comment _own_check_runs _own_comments"),
        ),
        (
            "tests/github/test_publish.py",
            "tests/services/test_posting.py",
            "tests/services/test_taking_back.py",
            "tests/path/test_landings.py",
        ),
    ),
    Room(
        "catch-up",
        (
            ("bot/jobs/catch_up.py", ""),
            ("bot/services/deliveries/catch_up.py", ""),
            ("bot/github/delivery_log.py", "read_failures read_arrived read_payload _attempts KEPT"),
            ("bot/services/reconciliation.py", "OVERLAP missing_pulls _is_news _watermark ask_for_landings differs"),
        ),
        ("tests/github/test_deliveries.py", "tests/services/test_catch_up.py"),
    ),
    Room(
        "leases",
        (
            ("bot/queue/rows.py", ""),
            ("bot/queue/worker.py", "work _attempt _put_off _fail _hand_back keep_leases renew claim_fairly is_alive"),
        ),
        ("tests/queue/test_contract.py", "tests/queue/test_embedded.py"),
    ),
    Room(
        "tokens",
        (("bot/github/auth.py", "TokenScope AppKey Tokens InstallationCredential _ends_at _refusal _MARGIN"),),
        ("tests/github/test_auth.py",),
    ),
    Room(
        "escaping",
        (("bot/render/markdown_escaping.py", ""), ("bot/render/plain_text.py", "")),
        ("tests/render/test_md_text.py", "tests/render/test_plain_text.py", "tests/render/test_html_text.py"),
    ),
    Room("policy", (("bot/web/access.py", ""),), ("tests/web/test_access.py",)),
    Room(
        "cache keys",
        (("bot/web/answer_cache.py", ""),),
        ("tests/web/test_answer_cache.py", "tests/web/test_page_keys.py"),
    ),
)
NAMED = (
    NamedMutant(
        "outbox",
        "no look-up of a post after a crash",
        PUBLISHING,
        "first = known is None and is_first(context, posting)",
        "first = known is None",
    ),
    NamedMutant(
        "outbox",
        "a post given up at a 500",
        PUBLISHING,
        "final = refused or isinstance(error, NoDiscussionsError)",
        "final = refused or isinstance(error, Exception)",
    ),
    NamedMutant(
        "outbox",
        "a claim of a post that is not durable",
        "bot/jobs/publish_post.py",
        "context.store.write(claim_post",
        "context.store.write_without_flush(claim_post",
    ),
    NamedMutant(
        "catch-up",
        "the catch-up mark set at the end of the look",
        "bot/jobs/catch_up.py",
        "Watermark(DELIVERIES, started)",
        "Watermark(DELIVERIES, context.clock())",
    ),
    NamedMutant(
        "tokens",
        "a token shared across installations",
        "bot/github/auth.py",
        "lock = self._locks.setdefault(scope, asyncio.Lock())",
        "lock = self._locks.setdefault(scope := scope.of(InstallationId(0), repositories=scope.repositories), "
        "asyncio.Lock())",
    ),
)
