"""How can a module be changed so that a good test notices? Each mutant is one small change of its syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

Alternative = tuple[str, ast.AST]
OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
FUNCTIONS = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}
LOGS = ("log", "warnings")
FIXED = ("annotation", "returns", "decorator_list", "type_params", "bases")
"""parts of a definition without an effect when it runs, or with one on everything"""


class Mutant(Struct, frozen=True):
    """One change of one module, as its whole source."""

    line: int
    change: str
    source: str


def mutants_of(source: str, only: frozenset[str] = frozenset()) -> Iterator[Mutant]:
    """All mutants of this source, or of the functions, classes and constants named in `only`."""
    for wanted in range(_Change(only).apply(source)):
        change = _Change(only, wanted)
        tree = ast.parse(source)
        change.visit(tree)
        yield Mutant(change.line, change.text, ast.unparse(ast.fix_missing_locations(tree)))


class _Change(ast.NodeTransformer):
    """Applies the change with the number `wanted`, and counts them all."""

    def __init__(self, only: frozenset[str], wanted: int = -1) -> None:
        self._only, self._wanted, self._count = only, wanted, 0
        self._inside = not only
        self.line, self.text = 0, ""

    def apply(self, source: str) -> int:
        self.visit(ast.parse(source))
        return self._count

    def visit(self, node: ast.AST) -> ast.AST:
        if _is_left_alone(node):
            return node
        outside, self._inside = self._inside, self._inside or _name(node) in self._only
        changed = self._changed(node) if self._inside else None
        if changed is None:
            self._visit_parts(node)
        self._inside = outside
        return node if changed is None else changed

    def _changed(self, node: ast.AST) -> ast.AST | None:
        for text, new in alternatives(node):
            self._count += 1
            if self._count - 1 == self._wanted:
                self.line, before = getattr(node, "lineno", 0), " ".join(ast.unparse(node).split())
                self.text = f"{text}: {before[:90]}"
                return ast.copy_location(new, node)
        return None

    def _visit_parts(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in FIXED:
                continue
            if isinstance(value, list):
                value[:] = [self.visit(part) if isinstance(part, ast.AST) else part for part in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


def _is_left_alone(node: ast.AST) -> bool:
    """Imports, docstrings, log lines and the texts of errors promise nothing."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Assert | ast.JoinedStr):
        return True
    if not isinstance(node, ast.Expr):
        return False
    called = node.value.func if isinstance(node.value, ast.Call) else None
    logs = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in LOGS
    return logs or isinstance(node.value, ast.Constant)


def alternatives(node: ast.AST) -> Iterator[Alternative]:
    """What could stand in the place of this node."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in OPPOSITES:
            yield "other comparison", ast.Compare(left, [_opposite(op)], right)
        case ast.BoolOp(op=op, values=values):
            yield "and/or", ast.BoolOp(_opposite(op), values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPPOSITES:
            yield "other operator", ast.BinOp(left, _opposite(op), right)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield "not negated", operand
        case ast.IfExp(test=test, body=body, orelse=other):
            yield "branches swapped", ast.IfExp(test, other, body)
        case ast.If(test=test, body=body, orelse=other):
            yield "condition negated", ast.If(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.Name(id=name) if name in FUNCTIONS:
            yield f"{FUNCTIONS[name]} instead", ast.Name(FUNCTIONS[name], node.ctx)
        case ast.Constant():
            yield from _other_constants(node)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "nothing returned", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "call removed", ast.Expr(ast.Constant(None))
        case ast.comprehension(ifs=[_, *_]):
            yield "filter removed", ast.comprehension(node.target, node.iter, [], node.is_async)


def _opposite(op: ast.AST) -> ast.AST:
    return OPPOSITES[type(op)]()


def _other_constants(node: ast.Constant) -> Iterator[Alternative]:
    match node.value:
        case bool(value):
            yield "other constant", ast.Constant(not value)
        case int(value) | float(value):
            yield "other constant", ast.Constant(value + 1)
        case str(value):
            yield "other constant", ast.Constant(f"{value}X")
        case None:
            return
