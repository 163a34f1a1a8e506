"""What is known about a kind of provider."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit


def server_of(address: str) -> str:
    """Return the scheme, host and port of an address."""
    return "/".join(address.split("/", 3)[:3]).lower()


class RequestForm(StrEnum):
    """How a debate is put to a model: as chat turns, or as one transcript."""

    CHAT = "chat"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRules:
    """What a server that speaks OpenAI's API wants otherwise than OpenAI.

    `without` are arguments that it refuses. `short_call_ids` says that the ids of tool calls are nine letters and digits,
    `speech_after_tools` that only an assistant may speak after the result of a tool, `wants_thought` that a model gets back
    what it thought before its calls.
    """

    without: tuple[str, ...] = ()
    max_completion_tokens: bool = False
    short_call_ids: bool = False
    speech_after_tools: bool = False
    wants_thought: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderKind:
    """A provider that can be chosen.

    `route` is LiteLLM's prefix, `base_url` the default address, `variable` the environment variable its users know,
    `voice` the name of its participant, `listed_as` its prefix in LiteLLM's list of prices ("" for its route's).
    `form` says how a debate is put to its models: chat turns, or one transcript
    with an opener (for a model too small for chat turns). `guided` marks models that cannot choose a tool: Moot offers
    the one that fits. `images` says that models take pictures. `calls_at_once` is how many answers a server of this
    computer can write at once, None for any number. `key_page` is where one gets a key; it begins with `key_prefix`.
    A provider whose address differs from user to user has no `base_url`, but an `address_form` in which NAME stands for
    what differs. With `own_names` users give the models their names, and the server's list does not have them.
    `rules` hold at the provider's own address only. With `in_moot`, Moot runs the models itself, on this computer. Without `votes` its
    models answer in words and hold to no form, so that they neither vote nor judge. One that `resells` names models
    "maker/model" and passes on their makers' prices.
    """

    kind: str
    label: str
    voice: str
    route: str
    base_url: str
    models: tuple[str, ...]
    variable: str = ""
    local: bool = False
    needs_key: bool = True
    form: str = RequestForm.CHAT
    listed_as: str = ""
    guided: bool = False
    images: bool = True
    calls_at_once: int | None = None
    key_page: str = ""
    key_prefix: str = ""
    address_form: str = ""
    own_names: bool = False
    in_moot: bool = False
    votes: bool = True
    resells: bool = False
    rules: ServerRules = ServerRules()

    @property
    def path(self) -> str:
        """The path of the API on the provider's server."""
        return urlsplit(self.base_url or self.address_form).path

    def listed(self, model: str) -> str:
        """Return a model's name in LiteLLM's list of prices."""
        return f"{self.listed_as or self.route}/{model}"

    def priced(self, model: str) -> tuple[str, ...]:
        """Return the names in LiteLLM's list whose price is that of a model."""
        name = model.partition("/")[2]
        # Anthropic's own names have no dots.
        return (self.listed(model), *((name, name.replace(".", "-")) if self.resells and name else ()))

    def is_own(self, address: str) -> bool:
        """Return whether an address is on the provider's own server, so that what is known of it holds there."""
        if self.base_url:
            return server_of(address) == server_of(self.base_url)
        before, _, after = server_of(self.address_form).partition("name")
        return (
            bool(after)
            and re.fullmatch(f"{before}[a-z0-9-]+{re.escape(after)}", server_of(address)) is not None
        )

    def rules_at(self, address: str) -> ServerRules:
        """Return the rules of the server at an address."""
        return self.rules if self.is_own(address) else ServerRules()
