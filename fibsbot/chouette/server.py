"""What the embedded server takes from chouettes."""

from __future__ import annotations

from typing import Final

from fibsbot.chouette import commands, flow
from fibsbot.chouette.table import saved_tables
from fibsbot.server.world import TableHooks

HOOKS: Final = TableHooks(
    handlers=commands.HANDLERS,
    seated_handlers=commands.SEATED_HANDLERS,
    saved_tables=saved_tables,
    come_back=flow.come_back,
    go_away=flow.go_away,
    after_command=flow.after_command,
    drop_late_players=flow.drop_late_players,
)
