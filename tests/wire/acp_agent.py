"""A tiny external agent: speaks the Agent Client Protocol on its standard input and output.

The first word of the arguments that begins with `--` chooses what it does; `--journal=FILE` appends every prompt it gets.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

FLAGS = dict(one[2:].partition("=")[::2] for one in sys.argv[1:] if one.startswith("--"))
DOES = next((name for name in FLAGS if name != "journal"), "say")
SESSIONS: dict[str, str] = {}
FOLDERS: dict[str, str] = {}
STARTED = [0]
# What asked to edit a file: the session and the number of its prompt, by the number of the request.
EDITS: dict[object, tuple[str, object]] = {}


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session: str, kind: str, /, **fields: object) -> None:
    send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **fields}})


def say(session: str, text: str, message_id: str = "m1", kind: str = "agent_message_chunk") -> None:
    known = {"messageId": message_id} if message_id else {}
    update(session, kind, content={"type": "text", "text": text}, **known)


def permission(session: str, number: int, call: dict[str, object]) -> None:
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    if DOES == "lasting-only":
        options[0]["kind"] = "allow_always"
    if DOES == "edit-more":
        options += [
            {"optionId": "all", "name": "All edits", "kind": "allow_always"},
            {"optionId": "none", "name": "Edits of this file", "kind": "reject_always"},
            {"optionId": "new", "name": "From the future", "kind": "ask_my_friend"},
        ]
    params = {"sessionId": session, "toolCall": call, "options": options}
    send(id=number, method="session/request_permission", params=params)


def journal(kind: str, text: str) -> None:
    if "journal" in FLAGS:
        with Path(FLAGS["journal"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"kind": kind, "text": text, "pid": os.getpid()}) + "\n")


def read_journal() -> str:
    return Path(FLAGS["journal"]).read_text(encoding="utf-8") if "journal" in FLAGS else ""


def orphan() -> None:
    """Start a child in a session of its own, as shell tools of real agents are; only at the first prompt."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    journal("orphan", str(child.pid))


def shells(session: str) -> None:
    """Start commands as shell tools do, some in groups or sessions of their own, some without a trace of Moot."""
    update(session, "tool_call", toolCallId="s1", title="sleep", kind="execute", status="in_progress")
    say(session, "I begin")
    for place in range(20):
        own = ({}, {"process_group": 0}, {"start_new_session": True}, {"start_new_session": True, "env": {}})[
            place % 4
        ]
        script = f"sleep {FLAGS['shells']} & sleep {FLAGS['shells']}"
        subprocess.Popen(["/bin/sh", "-c", script], **own)  # type: ignore[call-overload]
        journal("shell", str(place))


def edit(session: str, number: object) -> None:
    """Ask to write a file into the session's folder; `edited` does it, or not, and ends the turn."""
    say(session, "I look.")
    update(session, "tool_call", toolCallId="r1", title="Read notes.txt", kind="read", status="in_progress")
    done = [{"type": "content", "content": {"type": "text", "text": "nothing in it"}}]
    update(session, "tool_call_update", toolCallId="r1", status="completed", content=done)
    call = {"toolCallId": "e1", "title": "Write notes.txt", "kind": "edit", "status": "pending"}
    call |= {"locations": [{"path": "notes.txt"}], "rawInput": {"path": "notes.txt", "text": "hello"}}
    update(session, "tool_call", **call)
    asks = 900 + len(EDITS)
    EDITS[asks] = session, number
    bare = {"toolCallId": "e1", "kind": "edit", "status": "pending"}
    change = {"type": "diff", "path": "notes.txt", "oldText": "", "newText": "hello"}
    permission(session, asks, bare if DOES == "edit-bare" else call | {"content": [change]})


def edited(answer: dict[str, object]) -> None:
    session, number = EDITS.pop(answer["id"])
    outcome = answer.get("result", {}).get("outcome", {})  # type: ignore[attr-defined]
    if outcome.get("outcome") == "cancelled":
        return
    allowed = outcome.get("optionId") in ("yes", "all")
    if allowed:
        Path(FOLDERS[session], "notes.txt").write_text("hello", encoding="utf-8")
    update(session, "tool_call_update", toolCallId="e1", status="completed" if allowed else "failed")
    say(session, "Written." if allowed else "Not written.", "m2")
    send(id=number, result={"stopReason": "end_turn", "usage": {"inputTokens": 11, "outputTokens": 3}})


def remembered(session: str) -> bool:
    """Say whether this program, or one before it with the same journal, has made a session."""
    made = [json.loads(one) for one in read_journal().splitlines()]
    return any(one["kind"] == "made" and one["text"] == session for one in made)


def flood(session: str) -> None:
    for number in range(6_000):
        update(session, "plan", entries=[{"content": str(number)}])


def state() -> dict[str, object]:
    mode = {"stuck-mode": "build", "unasked-mode": "yolo", "error-as-text": "default"}.get(DOES, "read")
    model = "other" if DOES == "stuck-model" else "small"
    return {
        "modes": {"currentModeId": mode, "availableModes": [{"id": mode, "name": mode}]},
        "configOptions": [
            {
                "id": "model",
                "category": "model",
                "currentValue": model,
                "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
            }
        ],
    }


def seen(block: dict[str, str]) -> str:
    """Return a block of a prompt as text: of a picture what it is and its data."""
    return block["text"] if block["type"] == "text" else f"<{block['mimeType']} {block['data']}>"


def prompt(session: str, text: str) -> str | None:
    """Answer a prompt; return why it ended, None where no answer comes by itself."""
    journal("prompt", text)
    if DOES in ("slow", "ignore-cancel") or (DOES == "orphan" and '"orphan"' not in read_journal()):
        if DOES == "orphan":
            orphan()
        say(session, "I begin")
        return None
    if DOES == "think":
        say(session, "Let me see.", kind="agent_thought_chunk")
    elif DOES == "ask":
        permission(session, 900, {"toolCallId": "t1"})
    elif DOES == "two-asks":
        permission(session, 900, {"toolCallId": "t1", "title": "folder"})
        permission(session, 901, {"toolCallId": "t1", "title": "edit"})
    elif DOES in ("edit", "edit-bare", "edit-more", "lasting-only"):
        return None
    elif DOES == "plan":
        entries = [{"content": "Look", "status": "completed"}, {"content": "Write", "status": "pending"}]
        update(session, "plan", entries=entries)
    elif DOES == "many-acts":
        for place in range(600):
            update(session, "tool_call", toolCallId=f"t{place}", title="ls", status="completed")
        return None
    elif DOES == "forged":
        # Requests nobody could have been asked about: of another session, twice the same, without a call.
        permission("somebody-else", 910, {"toolCallId": "t1", "title": "rm"})
        permission(session, 911, {"title": "no call"})
    elif DOES == "shells":
        shells(session)
        return None
    elif DOES == "shell":
        update(session, "tool_call", toolCallId="s1", title="sleep 600", kind="execute", status="in_progress")
        orphan()
        return None
    elif DOES == "act":
        update(session, "tool_call", toolCallId="t1", title="rm -rf notes", kind="execute")
        return None
    elif DOES == "notice":
        update(session, "notice", message="Your plan ends soon.")
        say(session, "A notice without an id. ", "")
    elif DOES == "no-ids":
        say(session, "Said without ids.", "")
        return "end_turn"
    elif DOES == "error-as-text":
        say(session, "exceeded retry limit, last status: 429 Too Many Requests", "")
        return "end_turn"
    elif DOES == "empty":
        return "end_turn"
    elif DOES == "vote" and (offered := re.findall(r"^([A-Z]): Yes$", text, re.MULTILINE)):
        say(session, f"I have read it all, and my choice is {offered[0]}.", "")
        return "end_turn"
    elif DOES == "garbage":
        sys.stdout.write("\x1b[31mhttps://login.example\n" * 10)
    elif DOES == "garbage-flood":
        for _ in range(300):
            sys.stdout.write("x" * 9_999 + "\n")
    elif DOES == "flood":
        flood(session)
        return None
    elif DOES == "long-line":
        say(session, "x" * (9 << 20))
        return None
    elif DOES == "unknown-update":
        update(session, "from_the_future", value=[1, {"a": None}])
        send(id=950, method="_future/ask", params={})
    elif DOES == "die-mid":
        say(session, "I be")
        os.kill(os.getpid(), signal.SIGKILL)
    elif DOES == "mention":
        found = re.search(r"@[/~.]", text)
        say(session, "a mention reached me" if found else "no mention")
        return "end_turn"
    say(session, "I say ")
    say(session, "this.")
    return "end_turn"


def handle(message: dict[str, object]) -> None:
    method, number = message.get("method"), message.get("id")
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    session = str(params.get("sessionId", ""))
    if method is None:
        journal("answer", json.dumps(message))
        if number in EDITS:
            edited(message)
    elif method == "initialize":
        capabilities: dict[str, object] = {
            "sessionCapabilities": {"close": {}, "systemPrompt": {}, "resume": {}},
            "promptCapabilities": {"image": DOES == "pictures"},
        }
        send(id=number, result={"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": []})
    elif method == "session/new":
        if DOES == "auth-new":
            send(id=number, error={"code": -32000, "message": "Authentication required"})
            return
        STARTED[0] += 1
        name = f"s{STARTED[0]}-{os.getpid()}"
        FOLDERS[name] = str(params["cwd"])
        journal("new", json.dumps(params))
        journal("made", name)
        send(id=number, result={"sessionId": name, **state()})
    elif method == "session/resume":
        journal("resume", session)
        if DOES == "resume-lost" or not remembered(session):
            send(id=number, error={"code": -32002, "message": "No such session"})
            return
        FOLDERS[session] = str(params["cwd"])
        send(id=number, result=state())
    elif method == "session/set_config_option":
        changed = state()
        changed["configOptions"][0]["currentValue"] = params["value"]  # type: ignore[index]
        send(id=number, result=changed)
    elif method == "session/prompt":
        if DOES == "auth-prompt":
            send(id=number, error={"code": -32000, "message": "Authentication required"})
            return
        if DOES == "leak":
            send(id=number, error={"code": -32603, "message": f"refused the key {FLAGS['leak']}"})
            return
        reason = prompt(session, "\n\n".join(map(seen, params["prompt"])))
        if reason is None:
            SESSIONS[session] = str(number)
            if DOES in ("edit", "edit-bare", "edit-more", "lasting-only"):
                edit(session, number)
        else:
            send(id=number, result={"stopReason": reason, "usage": {"inputTokens": 11, "outputTokens": 3}})
    elif method == "session/cancel":
        journal("cancel", session)
        if DOES != "ignore-cancel" and session in SESSIONS:
            send(id=int(SESSIONS.pop(session)), result={"stopReason": "cancelled"})
    elif number is not None:
        journal(str(method), session)
        send(id=number, result={})


def main() -> None:
    if DOES == "ignore-eof":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if DOES == "die-start":
        sys.exit(3)
    if DOES == "leak":
        sys.stderr.write(f"my key is {FLAGS['leak']}\n")
    if DOES == "banner":
        sys.stdout.write("Welcome to the tiny agent!\n")
    if DOES == "stderr-flood":
        sys.stderr.write("words on standard error\n" * 60_000)
    journal("start", json.dumps(dict(os.environ)))
    for line in sys.stdin:
        handle(json.loads(line))
    if DOES == "ignore-eof":
        time.sleep(600)


if __name__ == "__main__":
    main()
