"""How many statements and rows do plans need? Counted from outside: the bot knows nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.store import turn
from bot.store.turn import Answer, Plan


@dataclass
class Cost:
    """The cost of plans: statements, rows written and read, statements awaited, and characters read."""

    statements: int = 0
    rows: int = 0
    awaited: int = 0
    read: int = 0

    def clear(self) -> None:
        self.statements = self.rows = self.awaited = self.read = 0

    def counted(self, plan: Plan[Answer]) -> Plan[Answer]:
        """The same plan, with its reads and writes added to this cost."""
        step = next(plan)
        while True:
            rows = yield step
            self.awaited += isinstance(step, turn.Ask | turn.AskAll)
            for one in _statements(step):
                self.statements += 1
                self.rows += len(one.rows) if isinstance(one, turn.Tell) else 0
            self.rows += sum(map(len, rows)) if isinstance(step, turn.AskAll) else len(rows)
            self.read += len(str(rows))
            try:
                step = plan.send(rows)
            except StopIteration as ended:
                answer: Answer = ended.value
                return answer


def _statements(step: turn.Step) -> Sequence[turn.Ask | turn.Said]:
    """The single statements of a step."""
    if isinstance(step, turn.AskAll):
        return step.questions
    return step if isinstance(step, list) else [step]
