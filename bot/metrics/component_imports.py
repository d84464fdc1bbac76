"""Which landed commits connect two folders of a repository for the first time, and do these imports close a cycle or
reach into something private?

Commits are read in the order of landing; commits of the same second in the order of their ids. A folder with source
files is a component. An import of a component by one of its own outer or inner folders connects nothing. What cannot be
found among the files known so far belongs to another project.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from posixpath import dirname

from msgspec import Struct

from bot.metrics.import_changes import ANCHOR, DECLARES, MANIFESTS
from bot.model.fact import Fact, ImportChange
from bot.model.ids import CommitId

Component = str
"""the path of a folder"""
_PRIVATE = frozenset(("internal", "private"))
_ENDINGS = (".py", ".pyi", ".pyx", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".vue", ".rs", ".java", ".kt")
_JVM_SOURCES = (".java", ".kt", ".scala", ".groovy")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc")
_C_SOURCES = (*_HEADERS, ".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".cu")
_SOURCE_FOLDERS = ("", "/src", "/lib")


class ComponentImport(Struct, frozen=True):
    """The first import of one component by another, or the first one since the last of them went."""

    repository: str
    commit: CommitId
    importer: Component
    imported: Component
    closes_cycle: bool = False
    private: str = ""
    """the private part that it reaches into"""

    @property
    def is_harmful(self) -> bool:
        return self.closes_cycle or bool(self.private)


def component_imports(facts: Iterable[Fact]) -> list[ComponentImport]:
    """The new imports between components of all repositories, in the order of landing. Sources are what clones show."""
    graphs: defaultdict[str, _Graph] = defaultdict(_Graph)
    found = []
    for fact in sorted(facts, key=lambda fact: (fact.landed_at, fact.repository, fact.commit)):
        graph = graphs[fact.repository]
        graph.learn(fact)
        for importer, imported, private in graph.apply(fact.imports) if fact.imports else ():
            cycle = graph.reaches(imported, importer)
            found.append(ComponentImport(fact.repository, fact.commit, importer, imported, cycle, private))
            graph.connect(importer, imported)
    return found


class _Graph:
    """The files and imports of one repository at a moment."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: defaultdict[str, set[Component]] = defaultdict(set)
        """by the last part of their path"""
        self._headers: defaultdict[str, set[str]] = defaultdict(set)
        """the paths of C headers by file name"""
        self._packages: dict[str, Component] = {}
        """by declared name"""
        self._imports: defaultdict[str, Counter[Component]] = defaultdict(Counter)
        """what each file imports"""
        self._edges: Counter[tuple[Component, Component]] = Counter()
        self._next: defaultdict[Component, set[Component]] = defaultdict(set)

    def learn(self, fact: Fact) -> None:
        """Note the files of a commit, the packages that it declares, and what it moved."""
        for path in fact.paths:
            if path not in self._files:
                self._files.add(path)
                self._add_folders(dirname(path))
                if path.endswith(_HEADERS):
                    self._headers[path.rpartition("/")[2]].add(path)
            if path.endswith(".py"):  # a module that a folder was made into, or that replaces one
                self._folders[path[:-3].rpartition("/")[2]].discard(path[:-3])
        for path, names, _ in fact.imports:
            for name in names:
                if name.startswith(DECLARES):
                    self._packages[name.removeprefix(DECLARES)] = dirname(path)
        for old, new in fact.renames:
            self._move(old, new)

    def _add_folders(self, folder: Component) -> None:
        while folder and folder not in self._folders[name := folder.rpartition("/")[2]]:
            self._folders[name].add(folder)
            folder = dirname(folder)

    def _move(self, old: str, new: str) -> None:
        inside = f"{old}/"
        for path in [path for path in self._imports if path == old or path.startswith(inside)]:
            moved_to = new + path[len(old) :]
            moved = self._imports.pop(path)
            for target, times in moved.items():
                self._disconnect(dirname(path), target, times)
                self._count(dirname(moved_to), target, times)
            self._imports[moved_to].update(moved)
        for name, home in self._packages.items():
            if home == dirname(old) and old.endswith(MANIFESTS):
                self._packages[name] = dirname(new)
            elif home == old or home.startswith(inside):
                self._packages[name] = new + home[len(old) :]

    def apply(self, changes: Iterable[ImportChange]) -> Iterator[tuple[Component, Component, str]]:
        """Count the imports of one commit; those between components that no file had before, each once."""
        begun: dict[tuple[Component, Component], str] = {}
        listed = list(changes)
        for path, names, _ in listed:
            for name in names:
                edge, private = self._begin(path, name)
                if edge is not None:
                    begun[edge] = begun.get(edge, "") or private
        for path, _, ended in listed:  # last, so that an import that moves to another file is not new
            for name in ended:
                self._end(path, name)
        yield from ((*edge, private) for edge, private in sorted(begun.items()))

    def _begin(self, path: str, name: str) -> tuple[tuple[Component, Component] | None, str]:
        target = self._resolve(path, name)
        if target is None:
            return None, ""
        component, rest = target
        importer = dirname(path)
        self._imports[path][component] += 1
        if _is_within(importer, component) or _is_within(component, importer):
            return None, ""
        is_new = not self._edges[importer, component]
        self._edges[importer, component] += 1
        return ((importer, component) if is_new else None), _private_part(importer, component, rest)

    def _end(self, path: str, name: str) -> None:
        target = self._resolve(path, name)
        if target is not None and self._imports[path][target[0]]:
            self._imports[path][target[0]] -= 1
            self._disconnect(dirname(path), target[0], 1)

    def connect(self, importer: Component, imported: Component) -> None:
        self._next[importer].add(imported)

    def _count(self, importer: Component, imported: Component, times: int) -> None:
        if not _is_within(importer, imported) and not _is_within(imported, importer):
            self._edges[importer, imported] += times
            self.connect(importer, imported)

    def _disconnect(self, importer: Component, imported: Component, times: int) -> None:
        left = self._edges[importer, imported] - times
        if left > 0:
            self._edges[importer, imported] = left
        else:
            del self._edges[importer, imported]
            self._next[importer].discard(imported)

    def reaches(self, start: Component, end: Component) -> bool:
        """Whether `start` imports `end`, itself or through others."""
        seen, waiting = {start}, [start]
        while waiting:
            following = self._next.get(waiting.pop(), ())
            if end in following:
                return True
            waiting += [one for one in following if one not in seen]
            seen.update(following)
        return False

    # --- what a name means ---------------------------------------------------------------------------------------

    def _resolve(self, path: str, name: str) -> tuple[Component, str] | None:
        """The component that a name lies in, and the rest of the path to it; None for another project's."""
        if name.startswith(DECLARES):
            return None
        if name.startswith(ANCHOR):
            return self._within(name.removeprefix(ANCHOR))
        return self._declared(name) or self._python(path, name) or self._by_end(path, name)

    def _within(self, path: str) -> tuple[Component, str] | None:
        """The longest part of a path that is a file or a folder with sources."""
        parts = path.split("/")
        for count in range(len(parts), 0, -1):
            start = "/".join(parts[:count])
            rest = "/".join(parts[count:])
            if self._is_folder(start):
                return start, rest
            if any(start + ending in self._files for ending in ("", *_ENDINGS)):
                folder, _, file = start.rpartition("/")
                return folder, f"{file}/{rest}".rstrip("/")
        return None

    def _is_folder(self, path: str) -> bool:
        return path in self._folders.get(path.rpartition("/")[2], ())

    def _declared(self, name: str) -> tuple[Component, str] | None:
        """A name that begins with a package that a file of this repository declares."""
        parts = name.split("/")
        for count in range(len(parts), 0, -1):
            start = "/".join(parts[:count])
            home = self._packages.get(start, self._packages.get(start.replace("_", "-")))
            if home is not None:
                rest = parts[count:]
                for source in _SOURCE_FOLDERS:
                    found = self._within("/".join(filter(None, (*(home + source).strip("/").split("/"), *rest))))
                    if found is not None and (found[0] != home or not rest):
                        return found
                return None
        return None

    def _python(self, path: str, name: str) -> tuple[Component, str] | None:
        """A package of Python: its folder has an `__init__` file, the folder around it has none."""
        if not path.endswith((".py", ".pyx", ".pyi")):
            return None
        top = name.split("/")[0]
        homes = [folder for folder in self._folders.get(top, ()) if self._is_source_root(folder)]
        if not homes:
            return None
        return self._within("/".join(filter(None, (dirname(_nearest(homes, path)), name))))

    def _is_source_root(self, folder: Component) -> bool:
        outer = dirname(folder)
        return f"{folder}/__init__.py" in self._files and f"{outer}/__init__.py".lstrip("/") not in self._files

    def _by_end(self, path: str, name: str) -> tuple[Component, str] | None:
        """A folder of Java or a header of C whose path ends with the name."""
        if path.endswith(_C_SOURCES):
            return self._header(path, name)
        if not path.endswith(_JVM_SOURCES):
            return None
        for each in (name, dirname(name), dirname(dirname(name))):
            found = [
                one
                for one in self._folders.get(each.rpartition("/")[2], ())
                if one == each or ("/" in each and one.endswith(f"/{each}"))
            ]
            if found:
                return _nearest(found, path), name[len(each) :].strip("/")
        return None

    def _header(self, path: str, name: str) -> tuple[Component, str] | None:
        """A header beside the file, or the one whose path ends with the name; of several, none without a folder."""
        known = self._headers.get(name.rpartition("/")[2], set())
        beside = f"{dirname(path)}/{name}".lstrip("/")
        if beside in known:
            return dirname(beside), ""
        found = [one for one in known if one == name or one.endswith(f"/{name}")]
        if not found or (len(found) > 1 and "/" not in name):
            return None
        return dirname(_nearest(found, path)), ""


def _is_within(inner: Component, outer: Component) -> bool:
    return inner == outer or not outer or inner.startswith(f"{outer}/")


def _nearest(paths: Iterable[str], path: str) -> str:
    """The one that shares most leading parts with the path, then the shortest."""
    return max(paths, key=lambda one: (_shared(one, path), -len(one), one))


def _shared(folder: Component, path: str) -> int:
    """How many leading parts two paths share."""
    count = 0
    for one, other in zip(folder.split("/"), path.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count


def _private_part(importer: Component, component: Component, rest: str) -> str:
    """The path of the first private part of what is imported, if the importer lies outside the folder that holds it."""
    parts = [part for part in (*component.split("/"), *rest.split("/")) if part]
    folders = component.count("/") + 1 if component else 0
    for index, part in enumerate(parts):
        if part in _PRIVATE or (part.startswith("_") and not part.startswith("__")):
            holder = "/".join(parts[: min(index, folders)])
            if not _is_within(importer, holder):
                return "/".join(parts[: index + 1])
    return ""
