"""Which signatures are not people: bots, merge bots, GitHub itself, AI agents?

An address, a user id or a login is evidence; a name counts only if nothing else is known about the signature. The
addresses come from public histories, the ids of AI agents from METRICS.md, section 4.1.
"""

from __future__ import annotations

import re
from functools import lru_cache

from bot.landing.identity.addresses import account_of, login_of, plain_email
from bot.model.commit import Signature

WEB_FLOW = "noreply@github.com"
"""the committer's address when somebody presses a button on GitHub"""

LANDING_BOTS = frozenset(
    (
        "pytorchmergebot",
        "bors",
        "bors[bot]",
        "bors-servo",
        "homu",
        "k8s-ci-robot",
        "k8s-merge-robot",
        "kubernetes-prow[bot]",
        "openshift-merge-robot",
        "openshift-merge-bot[bot]",
        "istio-testing",
        "knative-prow[bot]",
        "knative-prow-robot",
        "google-oss-prow[bot]",
        "jetstack-bot",
        "cert-manager-prow[bot]",
        "metal3-io-bot",
        "ti-chi-bot",
        "ti-chi-bot[bot]",
        "github-merge-queue",
        "github-merge-queue[bot]",
        "mergify[bot]",
        "kodiakhq[bot]",
        "bulldozer-bot[bot]",
        "graphite-app[bot]",
        "trunk-io[bot]",
        "aviator-app[bot]",
        "ansibot",
    )
)
"""logins that land other people's pull requests; `(#N)` in their commits is a pull request of that repository"""

EXPORT_BOTS = frozenset(("facebook-github-bot", "meta-codesync[bot]", "copybara-service[bot]", "copybara-service"))
"""logins that export work from other repositories: `(#N)` in their commits may refer to any repository"""

_BOT_LOGINS = (
    LANDING_BOTS
    | EXPORT_BOTS
    | frozenset(
        (
            "web-flow",
            "ghost",
            "actions-user",
            "dependabot",
            "dependabot-preview",
            "renovate-bot",
            "greenkeeperio-bot",
            "pyup-bot",
            "snyk-bot",
            "allcontributors",
            "semantic-release-bot",
            "pytorchbot",
            "pytorchupdatebot",
            "gopherbot",
            "github-actions",
            "patchback",
            "weblate",
            "codecov-io",
            "scala-steward",
            "imgbot",
            "deepsource-autofix",
            "pre-commit-ci",
            "angular-robot",
            "aqua-bot",
            "astrobot-houston",
            "brewtestbot",
            "fredkbot",
            "goreleaserbot",
            "hashibot-web",
            "meltybot",
            "nextcloud-command",
            "opentelemetrybot",
            "pytestbot",
            "semantic-release",
            "sunpybot",
            "yoshi-automation",
        )
    )
)
_BOT_ADDRESSES = frozenset(
    (
        WEB_FLOW,
        "bors@rust-lang.org",
        "bors@bors.tech",
        "copybara-worker@google.com",
        "copybara-piper@google.com",
        "gvisor-bot@google.com",
        "shentubot@google.com",
        "svcscm@fb.com",
        "angular-robot@google.com",
        "yoshi-automation@google.com",
        "dpebot@google.com",
        "snakemake-bot-admin@googlegroups.com",
        "anchore-oss-update-bot@anchore.com",
        "semantic-release",
        "gobot@golang.org",
        "jenkins@openstack.org",
        "eslint@googlegroups.com",
        "fabric8-admin@googlegroups.com",
        "fuse-infra@redhat.com",
        "githubbot@exercism.io",
        "support@dependabot.com",
        "bot@renovateapp.com",
        "renovate@whitesourcesoftware.com",
        "support@greenkeeper.io",
        "github-bot@pyup.io",
        "bot@pyup.io",
        "snyk-bot@snyk.io",
        "action@github.com",
        "actions@github.com",
        "github-actions@github.com",
        "semantic-release-bot@martynus.net",
        "hosted@weblate.org",
        "noreply@weblate.org",
        "me@scala-steward.org",
        "bot@stepsecurity.io",
        "imgbothelp@gmail.com",
    )
)
_BOT_PREFIXES = ("generatedunixname", "facebook-github-bot-")
"""local parts that an exporting tool generates for its own jobs"""
_BOT_LOGIN = re.compile(r"(?:^|[-_+])bot$|[-_+]robot$")
"""a login or the local part of an address: `bot`, `acme-bot`, `ci+bot`; after a dot it is a surname"""
_BOT_NAMES = re.compile(r"(?i:[\[(]bot[\])]| (?:release|proposal|actions|automation) bot)$| bot$")
"""`Acme bot`, `Acme Release Bot`; people are called `Ada Bot`"""

_AGENT_IDS = frozenset(
    (
        209825114,  # claude[bot]
        198982749,  # Copilot, coding agent
        223556219,  # Copilot, command line and app
        175728472,  # Copilot, review suggestions
        62310815,  # Copilot Autofix
        223894421,  # Copilot Autofix
        158243242,  # devin-ai-integration[bot]
        199175422,  # chatgpt-codex-connector[bot]
        161369871,  # google-labs-jules[bot]
        218312386,  # gemini-cli[bot]
        176961590,  # gemini-code-assist[bot]
        138933559,  # factory-droid[bot]
        136622811,  # coderabbitai[bot]
        58596630,  # sourcery-ai[bot]
    )
)
_AGENT_ADDRESSES = frozenset(
    (
        "noreply@anthropic.com",
        "cursoragent@cursor.com",
        "noreply@openai.com",
        "codex@openai.com",
        "aider@aider.chat",
        "noreply@aider.dev",
        "noreply@aider.chat",
        "amp@ampcode.com",
        "noreply@opencode.ai",
        "junie@jetbrains.com",
        "windsurf@codeium.com",
        "vibe@mistral.ai",
        "noreply@bytedance.com",
        "oz-agent@warp.dev",
    )
)
_AGENT_LOGINS = frozenset(
    (
        "copilot",
        "copilot-swe-agent[bot]",
        "claude[bot]",
        "claude",
        "devin-ai-integration[bot]",
        "chatgpt-codex-connector[bot]",
        "google-labs-jules[bot]",
        "gemini-cli[bot]",
        "gemini-code-assist[bot]",
        "factory-droid[bot]",
        "coderabbitai[bot]",
        "sourcery-ai[bot]",
        "cursoragent",
        "cursor[bot]",
    )
)


@lru_cache(maxsize=2048)
def is_bot(sig: Signature, extra: tuple[str, ...] = ()) -> bool:
    """Whether the signature is a machine that commits or lands. `extra`: logins or e-mails from a repository's file."""
    if sig.bot:
        return True
    email, login = plain_email(sig.email), login_of(sig)
    if email in _BOT_ADDRESSES or email.startswith(_BOT_PREFIXES):
        return True
    if extra and ({email, login} & {name.lower() for name in extra}):
        return True
    if login is not None:
        return login.endswith("[bot]") or login in _BOT_LOGINS or bool(_BOT_LOGIN.search(login))
    if _BOT_LOGIN.search(email.partition("@")[0]):
        return True
    return sig.user_id is None and bool(_BOT_NAMES.search(sig.name.strip()))


@lru_cache(maxsize=2048)
def is_ai_agent(sig: Signature) -> bool:
    """Whether the signature is a coding agent; a person called Claude or Devin is not one."""
    user, login = account_of(sig)
    return user in _AGENT_IDS or login in _AGENT_LOGINS or plain_email(sig.email) in _AGENT_ADDRESSES


@lru_cache(maxsize=2048)
def is_landing_bot(sig: Signature, extra: tuple[str, ...] = ()) -> bool:
    """Whether the signature lands pull requests of the same repository that it commits to."""
    email, login = plain_email(sig.email), login_of(sig)
    if email in ("bors@rust-lang.org", "bors@bors.tech") or login in LANDING_BOTS:
        return True
    return bool({email, login} & {name.lower() for name in extra}) if extra else False


def is_web_flow(sig: Signature) -> bool:
    """Whether it is GitHub itself, acting for whoever pressed a button."""
    return plain_email(sig.email) == WEB_FLOW
