"""What other programs export, made by hand in the shapes they have; for the tests of the import."""

from typing import Any

# ChatGPT: a tree of nodes; the root holds nothing, `current_node` is the end of what was shown.


def _node(
    node_id: str, parent: str | None, children: list[str], message: dict[str, Any] | None
) -> dict[str, Any]:
    return {"id": node_id, "message": message, "parent": parent, "children": children}


def _said(role: str, parts: list[Any], at: float, **fields: Any) -> dict[str, Any]:
    content = fields.pop("content", {"content_type": "text", "parts": parts})
    return {
        "id": "x",
        "author": {"role": role, "name": fields.pop("name", None), "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": fields,
        "recipient": "all",
    }


def chatgpt(conversation_id: str = "6626ebf6-fb45-4d5b-a6e8-f77b0d9b77fa") -> dict[str, Any]:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-x", "width": 9}
    return {
        "title": "Cars in cities",
        "create_time": 1715710690.494,
        "update_time": 1715710790.5,
        "mapping": {
            "root": _node("root", None, ["sys"], None),
            "sys": _node(
                "sys",
                "root",
                ["u1"],
                _said("system", [""], 1715710690.0, is_visually_hidden_from_conversation=True),
            ),
            "u1": _node(
                "u1",
                "sys",
                ["a1", "a2"],
                _said(
                    "user",
                    [],
                    1715710691.0,
                    content={
                        "content_type": "multimodal_text",
                        "parts": [picture, "What is this? 안녕 \ud800"],
                    },
                    attachments=[{"name": "plan.pdf", "mime_type": "application/pdf"}],
                ),
            ),
            "a1": _node("a1", "u1", [], _said("assistant", ["The version before"], 1715710692.0)),
            "a2": _node(
                "a2",
                "u1",
                ["c1"],
                _said(
                    "assistant",
                    [],
                    1715710693.0,
                    content={"content_type": "thoughts", "thoughts": [{"summary": "hm", "content": "hm"}]},
                ),
            ),
            "c1": _node(
                "c1",
                "a2",
                ["t1"],
                _said(
                    "assistant",
                    [],
                    1715710694.0,
                    content={"content_type": "code", "language": "python", "text": "print(1)"},
                    model_slug="gpt-4o",
                ),
            ),
            "t1": _node(
                "t1",
                "c1",
                ["a3"],
                _said(
                    "tool",
                    [],
                    1715710695.0,
                    name="python",
                    content={"content_type": "execution_output", "text": "1"},
                ),
            ),
            "a3": _node(
                "a3", "t1", [], _said("assistant", ["A **car**."], 1715710696.0, model_slug="gpt-4o")
            ),
        },
        "moderation_results": [],
        "current_node": "a3",
        "plugin_ids": None,
        "conversation_id": conversation_id,
        "default_model_slug": "gpt-4o",
        "is_archived": False,
        "id": conversation_id,
    }


def claude() -> dict[str, Any]:
    return {
        "uuid": "b6be860d-77a4-4c67-b747-d70d13d56910",
        "name": "",
        "summary": "",
        "created_at": "2025-10-05T10:00:00.123456Z",
        "updated_at": "2025-10-05T10:01:00.000000Z",
        "account": {"uuid": "acc"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Read this",
                "content": [{"type": "text", "text": "Read this", "citations": []}],
                "sender": "human",
                "created_at": "2025-10-05T10:00:00.123456Z",
                "updated_at": "2025-10-05T10:00:00.123456Z",
                "attachments": [
                    {"file_name": "notes.txt", "file_size": 5, "file_type": "txt", "extracted_content": "abc"}
                ],
                "files": [{"file_name": "photo.jpg", "file_kind": "image"}],
            },
            {
                "uuid": "m2",
                "text": "It says abc.",
                "content": [
                    {"type": "thinking", "thinking": "secret thought"},
                    {"type": "tool_use", "name": "web_search", "input": {"q": "abc"}},
                    {
                        "type": "tool_result",
                        "name": "web_search",
                        "content": [{"type": "text", "text": "raw"}],
                    },
                    {"type": "text", "text": "It says abc."},
                ],
                "sender": "assistant",
                "created_at": "2025-10-05T10:00:30Z",
                "updated_at": "2025-10-05T10:00:30Z",
                "attachments": [],
                "files": [],
            },
        ],
    }


def open_webui() -> dict[str, Any]:
    def node(
        name: str, parent: str | None, role: str, content: Any, at: int, **fields: Any
    ) -> dict[str, Any]:
        return {
            "id": name,
            "parentId": parent,
            "childrenIds": [],
            "role": role,
            "content": content,
            "timestamp": at,
            **fields,
        }

    tree = {
        "q": node(
            "q",
            None,
            "user",
            "Hello",
            1787938846,
            models=["llama3.2:3b"],
            files=[{"type": "image", "url": "data:"}],
        ),
        "old": node("old", "q", "assistant", "The version before", 1787938847, model="llama3.2:3b"),
        "a": node(
            "a",
            "q",
            "assistant",
            '<details type="reasoning" done="true"><summary>Thought</summary>\n> hm\n</details>\nHi there',
            1787938848,
            model="qwen3:8b",
            modelName="Qwen 3",
            done=True,
        ),
    }
    return {
        "id": "7c6f0038-580a-4988-93a2-389d5a046556",
        "user_id": "u",
        "title": "A greeting",
        "chat": {
            "id": "",
            "title": "A greeting",
            "models": ["llama3.2:3b"],
            "params": {},
            "history": {"messages": tree, "currentId": "a"},
            "messages": [tree["q"], tree["a"]],
            "tags": [],
            "timestamp": 1787938845123,
        },
        "updated_at": 1787938848,
        "created_at": 1787938845,
        "share_id": None,
        "archived": False,
        "pinned": False,
        "meta": {},
        "folder_id": None,
    }


def lobe_chat() -> dict[str, Any]:
    return {
        "exportType": "sessions",
        "state": {
            "messages": [
                {
                    "id": "m2",
                    "role": "assistant",
                    "content": "Of course.",
                    "createdAt": 1715710691494,
                    "updatedAt": 1715710691494,
                    "sessionId": "s1",
                    "topicId": "t1",
                    "parentId": "m1",
                    "extra": {"fromModel": "gpt-4o-mini", "fromProvider": "openai"},
                    "meta": {},
                },
                {
                    "id": "m1",
                    "role": "user",
                    "content": "Could you help?",
                    "createdAt": 1715710690494,
                    "updatedAt": 1715710690494,
                    "sessionId": "s1",
                    "topicId": "t1",
                    "files": ["f1"],
                    "meta": {},
                },
                {
                    "id": "m3",
                    "role": "user",
                    "content": "Without a topic",
                    "createdAt": 1715710699494,
                    "sessionId": "s1",
                    "meta": {},
                },
            ],
            "sessions": [
                {
                    "id": "s1",
                    "type": "agent",
                    "config": {"model": "gpt-3.5-turbo", "systemRole": "Be kind"},
                    "meta": {"title": "Tutor"},
                    "createdAt": 1715710690494,
                    "updatedAt": 1715710690494,
                }
            ],
            "topics": [
                {
                    "id": "t1",
                    "title": "Help wanted",
                    "sessionId": "s1",
                    "createdAt": 1715710690494,
                    "updatedAt": 1,
                }
            ],
            "sessionGroups": [],
        },
        "version": 7,
    }


def lobe_database() -> dict[str, Any]:
    """Return LobeChat's newer export: rows of its database, dates as ISO 8601."""
    return {
        "data": {
            "sessions": [{"id": "s1", "title": "Tutor", "type": "agent"}],
            "topics": [{"id": "t1", "title": "Help wanted", "sessionId": "s1"}],
            "messages": [
                {
                    "id": "m1",
                    "role": "user",
                    "content": "Could you help?",
                    "createdAt": "2025-03-14T14:03:43.159Z",
                    "sessionId": "s1",
                    "topicId": "t1",
                },
                {
                    "id": "m2",
                    "role": "assistant",
                    "content": "Of course.",
                    "model": "gpt-4o-mini",
                    "createdAt": "2025-03-14T14:03:44.000Z",
                    "topicId": "t1",
                },
            ],
            "agents": [],
        },
        "mode": "pglite",
        "schemaHash": "abc",
    }
