"""How well does bot/landing/lines/linguist.py agree with enry on every file of the given trees?

    python benchmarks/linguist_agreement.py TREE...

TREE is a git directory (bare or not); its HEAD is read. Each question (language, vendored, generated, documentation) is
asked once for each text file; differences are listed by kind, most frequent first, with one example path each.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import enry

from bot.landing.lines import linguist
from bot.landing.lines.split import languages, read_files
from bot.model.commit import FileChange

QUESTIONS = ("language", "vendored", "generated", "documentation", "counted")
MOST_DIFFERENCES = 15


def files(tree: str) -> Iterator[tuple[str, bytes]]:
    """(path, content) of each blob of HEAD, without symbolic links and submodules."""
    listing = subprocess.run(["git", "-C", tree, "ls-tree", "-rz", "HEAD"], capture_output=True, check=True).stdout
    rows = [row.split(b"\t", 1) for row in listing.split(b"\0") if row]
    blobs = [(meta.split()[2], path) for meta, path in rows if meta.startswith(b"100")]
    with subprocess.Popen(
        ["git", "-C", tree, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin
        assert reader.stdout
        for blob, path in blobs:
            reader.stdin.write(blob + b"\n")
            reader.stdin.flush()
            header = reader.stdout.readline().split()
            if len(header) == 3:
                content = reader.stdout.read(int(header[2]))
                reader.stdout.read(1)
                yield path.decode(errors="surrogateescape"), content
        reader.stdin.close()


def answers(path: str, content: bytes) -> Iterator[tuple[str, object, object]]:
    """(question, our answer, enry's answer) for one file."""
    text = content.decode(errors="replace")
    yield "language", linguist.language(path, text) or "", enry.get_language(path, content)
    yield "vendored", linguist.is_vendored(path), enry.is_vendor(path)
    yield "generated", linguist.is_generated(path, text), enry.is_generated(path, content)
    yield "documentation", linguist.is_documentation(path), enry.is_documentation(path)
    yield "counted", counted(path, text), counted_by_github(path, content)


def counted(path: str, text: str) -> str:
    """The language that a commit adding the file counts as; empty if it counts as none."""
    lines = text.split("\n")
    patch = f"@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(f"+{line}" for line in lines)
    found = languages(read_files([FileChange(path, "added", len(lines), 0, patch)]))
    return next(iter(found), "")


def counted_by_github(path: str, content: bytes) -> str:
    """The language that github.com counts the file as, by Linguist's rules; empty if it counts as none."""
    if enry.is_vendor(path) or enry.is_documentation(path) or enry.is_generated(path, content):
        return ""
    return linguist.counted_language(enry.get_language(path, content))


def compare(tree: str, agreed: Counter[str], asked: Counter[str], kinds: dict[tuple[str, str], list[str]]) -> None:
    for path, content in files(tree):
        if b"\0" in content[:8000] or not content:
            continue
        for question, ours, theirs in answers(path, content):
            asked[question] += 1
            if ours == theirs:
                agreed[question] += 1
            else:
                kinds.setdefault((question, f"{ours!s:24} enry: {theirs!s:24}"), []).append(path)


def main(trees: list[str]) -> None:
    agreed: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    kinds: dict[tuple[str, str], list[str]] = {}
    for tree in trees:
        start = time.perf_counter()
        before, agreed_before = sum(asked.values()), sum(agreed.values())
        compare(tree, agreed, asked, kinds)
        count = sum(asked.values()) - before
        share = 100 * (sum(agreed.values()) - agreed_before) / max(1, count)
        print(f"{tree}: {count // len(QUESTIONS)} files, {share:.2f} % agree, {time.perf_counter() - start:.1f} s")
    for question in QUESTIONS:
        print(f"{question:14} {100 * agreed[question] / max(1, asked[question]):7.3f} % of {asked[question]}")
    print("differences:")
    for (question, kind), paths in sorted(kinds.items(), key=lambda row: -len(row[1]))[
        : MOST_DIFFERENCES * len(QUESTIONS)
    ]:
        print(f"{len(paths):6} {question:14} {kind} e.g. {paths[0]}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python benchmarks/linguist_agreement.py TREE...")
    main(sys.argv[1:])
