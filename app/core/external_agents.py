"""The external agents Moot knows: how each is found, started, and kept from using tools
while it takes part in a debate.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

# The place of the files of a recipe, in its arguments and variables.
FOLDER = "{folder}"
DEFAULT_MODEL = "default"

# The modes in which programs ask nobody before they change files or run commands; Moot uses none of them.
UNASKED_MODES = (
    *("bypasspermissions", "yolo", "full-access", "agent-full-access", "danger-full-access"),
    *("autoedit", "acceptedits"),
)

_RULES = (
    "You take part in a conversation between several models and a person. "
    "Answer with your own contribution as plain text. "
    "You have no tools and no files."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecipe:
    """A program that speaks the Agent Client Protocol, and how it is kept from using tools.

    `seen` is the version the recipe was written for. `variables` and `files` (by name) take its tools away,
    `session` is sent as `_meta` of a session. `system_prompt` is the mode in which a session takes a system
    text, "" for none. `mode` is the mode a session must have. `hosted` are beginnings of models that may be
    asked only when the user chose them. With `message_ids`, text without one is a notice; None where that is
    not known. `images` says whether it takes pictures, as long as it has not said so itself. An agent that
    works in a folder has its tools: then `work_args` take the place of `args`, `work_variables` and
    `work_mode` that of the others; its mode must be none of `UNASKED_MODES`. `notices` are beginnings of
    lines that are no answer, `complaints` of texts that say why there is none. `install` and `login` are
    commands for the user to run.
    """

    name: str
    label: str
    voice: str
    executable: str
    args: tuple[str, ...] = ()
    seen: str = ""
    install: str = ""
    login: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session: Mapping[str, object] = field(default_factory=dict)
    system_prompt: str = ""
    mode: str = ""
    work_args: tuple[str, ...] = ()
    work_variables: Mapping[str, str] = field(default_factory=dict)
    work_mode: str = ""
    hosted: tuple[str, ...] = ()
    message_ids: bool | None = None
    images: bool = False
    notices: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()


# What a program that is not in the table is run with: nothing takes its tools away.
OTHER = AgentRecipe(name="other", label="External agent", voice="Agent", executable="")

RECIPES: tuple[AgentRecipe, ...] = (
    AgentRecipe(
        name="claude",
        label="Claude Code",
        voice="Claude",
        executable="claude-agent-acp",
        seen="0.101.0",
        install="npm install -g @agentclientprotocol/claude-agent-acp",
        login="claude-agent-acp --cli",
        variables={"CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1"},
        session={
            "claudeCode": {
                "options": {
                    "tools": [],
                    "settingSources": [],
                    "strictMcpConfig": True,
                    "promptSuggestions": False,
                    "title": "Moot",
                }
            }
        },
        system_prompt="override",
        mode="default",
        work_variables={"CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1"},
        work_mode="default",
        message_ids=True,
        images=True,
    ),
    AgentRecipe(
        name="codex",
        label="Codex",
        voice="GPT",
        executable="codex-acp",
        seen="2.6.0",
        install="npm install -g @agentclientprotocol/codex-acp",
        login="codex login",
        variables={
            "CODEX_CONFIG": json.dumps(
                {
                    "features": {"shell_tool": False, "unified_exec": False},
                    "tools": {"view_image": False, "web_search": False},
                    "project_doc_max_bytes": 0,
                    "base_instructions": _RULES,
                }
            ),
            "INITIAL_AGENT_MODE": "read-only",
        },
        system_prompt="append",
        mode="read-only",
        # Here it asks before it changes a file.
        work_variables={"INITIAL_AGENT_MODE": "read-only"},
        work_mode="read-only",
        message_ids=True,
        images=True,
        notices=("Warning: Model metadata",),
        complaints=("exceeded retry limit",),
    ),
    AgentRecipe(
        name="gemini",
        label="Gemini CLI",
        voice="Gemini",
        executable="gemini",
        args=("--acp", "--admin-policy", f"{FOLDER}/policy.toml"),
        seen="0.61.0",
        install="npm install -g @google/gemini-cli",
        login="gemini",
        variables={"GEMINI_SYSTEM_MD": f"{FOLDER}/system.md"},
        files={
            "policy.toml": '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n',
            "system.md": _RULES + "\n",
        },
        work_args=("--acp",),
        work_mode="default",
        message_ids=False,
        images=True,
        notices=("[MODE_UPDATE]",),
    ),
    AgentRecipe(
        name="opencode",
        label="opencode",
        voice="opencode",
        executable="opencode",
        args=("acp",),
        seen="1.18.33",
        install="npm install -g opencode-ai",
        login="opencode auth login",
        variables={
            "OPENCODE_CONFIG_CONTENT": json.dumps(
                {
                    "share": "disabled",
                    "autoupdate": False,
                    "permission": {"*": "deny"},
                    "agent": {
                        "moot": {"mode": "primary", "prompt": _RULES, "permission": {"*": "deny"}},
                        "title": {"disable": True},
                    },
                    "default_agent": "moot",
                }
            ),
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            "OPENCODE_PURE": "1",
        },
        mode="moot",
        work_variables={
            "OPENCODE_CONFIG_CONTENT": json.dumps(
                {
                    "share": "disabled",
                    "autoupdate": False,
                    "permission": {"*": "ask"},
                    "agent": {"title": {"disable": True}},
                }
            )
        },
        work_mode="build",
        # Without a login it silently asks a free model of its maker.
        hosted=("opencode/",),
        message_ids=True,
        images=True,
    ),
)


def recipe_of(name: str) -> AgentRecipe:
    """Return the recipe of a name; a program that is not in the table has the one without rules."""
    return next((recipe for recipe in RECIPES if recipe.name == name), OTHER)
