"""The object names that scripts and testers rely on: each is there, once, where a person acts on it."""

from PySide6.QtWidgets import QWidget

from tests.app_driver import at_window, until
from tests.gui.every_page import ASKED, DEBATE, GROUP, keep_all

IN_A_CHAT = {"composer", "send_button", "stop_button", "transcript", "prompt_card", "prompt_answer"}
IN_A_GROUP = {"orchestrator_box", "orchestrator_toggle", "orchestrator_stop"}
EVERYWHERE = {"session_list", "new_button", "debate_button", "workflow_button", "plan_button"}
IN_THE_PANEL = {
    "right_panel", "debate_tabs", "debate_topic", "debate_mode", "debate_participants", "debate_rounds",
    "debate_context", "debate_start", "debate_pause", "debate_resume", "debate_stop", "debate_interject",
    "debate_send", "debate_transcript", "debate_history",
}  # fmt: skip


async def test_every_fixed_name_is_there_once(qapp, data_dir):
    await keep_all(data_dir)
    async with at_window(data_dir) as person:
        window, desk = person.window, person.window.controller

        def wrong(names: set[str]) -> dict[str, int]:
            found = {name: len(window.findChildren(QWidget, name)) for name in names}
            return {name: count for name, count in found.items() if count != 1}

        for session_id, names in ((ASKED, IN_A_CHAT), (GROUP, IN_A_GROUP)):
            desk.show_session(session_id)
            await until(lambda: desk.chat_page.session_id == session_id)  # noqa: B023
            await until(lambda: not wrong(names), what=str(wrong(names)))  # noqa: B023
        window.top_bar.debate_button.setChecked(True)
        await desk.debates.show_discussion(DEBATE)
        assert wrong(EVERYWHERE | IN_THE_PANEL) == {}
        # In the main area as well, and only there.
        desk.show_session(DEBATE)
        await until(lambda: desk.session_page.isVisible())
        assert wrong(EVERYWHERE | IN_THE_PANEL) == {}
        for name in ("debate_transcript", "debate_interject", "debate_stop"):
            assert desk.session_page.isAncestorOf(window.findChild(QWidget, name))
