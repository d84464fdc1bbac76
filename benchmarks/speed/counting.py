"""What do plans come to? Counted from outside: the bot knows nothing of it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.store import turn
from bot.store.turn import Answer, Plan


@dataclass
class Cost:
    """What plans came to: statements, rows written and read, statements awaited, and characters read."""

    statements: int = 0
    rows: int = 0
    awaited: int = 0
    read: int = 0

    def clear(self) -> None:
        self.statements = self.rows = self.awaited = self.read = 0

    def counted(self, plan: Plan[Answer]) -> Plan[Answer]:
        """The same plan, with what it asks and tells added to this."""
        step = next(plan)
        while True:
            rows = yield step
            for one in step if isinstance(step, list) else [step]:
                self.statements += 1
                self.awaited += isinstance(one, turn.Ask)
                self.rows += len(one.rows) if isinstance(one, turn.Tell) else 0
            self.rows += len(rows)
            self.read += len(str(rows))
            try:
                step = plan.send(rows)
            except StopIteration as ended:
                answer: Answer = ended.value
                return answer
