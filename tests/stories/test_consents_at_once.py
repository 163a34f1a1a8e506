"""Consents that are given and revoked at the same time, each by its own command: none is lost."""

import asyncio
from pathlib import Path

import pytest

from app.wiring import open_moot
from tests.providers.external import tiny

pytestmark = pytest.mark.allow_blocking


@pytest.mark.threat("T12")
async def test_consents_that_are_given_and_revoked_at_once_are_all_kept(data_dir: Path) -> None:
    moot = await open_moot(data_dir)
    engine, documents = moot.engine, moot.documents
    say, edit, ask = (tiny(does) for does in ("say", "edit", "ask"))
    await asyncio.gather(engine.connections.allow_agent(say), engine.connections.allow_agent(edit))
    folder = say.work_consent("/work")
    await documents.change_consents(lambda known: known | {folder, "server/tool"})
    assert documents.consents() == {say.fingerprint, edit.fingerprint, folder, "server/tool"}
    [lasting] = engine.permissions.all()
    assert lasting.keys == (folder,)
    await asyncio.gather(
        engine.permissions.revoke(lasting),
        engine.connections.allow_agent(ask),
        engine.connections.deny_agent(edit.id),
        moot.tools.permit(("server/tool",)),
    )
    kept = {say.fingerprint, ask.fingerprint, "server/tool", "server/tool/always"}
    assert documents.consents() == kept
    assert {one.id for one in documents.providers()} >= {say.id, edit.id, ask.id}
    await moot.close()
    again = await open_moot(data_dir)
    assert again.documents.consents() == kept
    await again.close()
