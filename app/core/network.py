"""The plug for the way to the network: the user's proxy and certificates."""

from typing import Protocol


class Network(Protocol):
    """Gives all child processes the proxy and the certificates that the user chose."""

    async def use(self, proxy: str, certificates: str) -> None:
        """Use a proxy, and a PEM file of certificates to trust besides the usual ones; "" for none.

        The processes that run end when they have answered; new ones take what is asked from now on. Raises BadInput for
        what cannot be used.
        """
