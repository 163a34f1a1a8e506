"""Connects the MCP servers of an assistant before its turn, and tells the user which of them cannot be used."""

from app.core.agent import Agent
from app.core.tool import ServerProblem, ServerState
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession


async def attach_servers(live: LiveSession, directory: AgentDirectory, agent: Agent) -> None:
    """Connect the servers that an assistant names; one that it cannot use is named once in each run.

    One that waits for the user's permission is named once for as long as the session is open. Both hold for each assistant.
    """
    await directory.attach(agent)
    for status in directory.servers(agent):
        name = status.server.name
        waits = status.state == ServerState.ASKING
        told = (name, agent.id, waits)
        if status.state in (ServerState.CONNECTED, ServerState.OFF) or told in live.servers_told:
            continue
        live.servers_told.add(told)
        if waits:
            live.notice("server_waits", name=name, who=agent.name)
            continue
        # One that still connects has taken longer than a turn waits for it.
        problem = status.problem or ServerProblem.NO_ANSWER
        live.notice(
            "server_down" if status.known else "server_down_unknown",
            name=name,
            who=agent.name,
            count=status.known,
            problem=problem,
            detail=status.detail,
        )
