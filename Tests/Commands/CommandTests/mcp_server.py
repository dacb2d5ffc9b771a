"""An MCP server that is its own authorization server, of the fastmcp library: prints its address, and serves until it ends.

usage: mcp_server.py
"""

import socket

import fastmcp
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
address = f"http://127.0.0.1:{port}"
auth = InMemoryOAuthProvider(base_url=address, client_registration_options=ClientRegistrationOptions(enabled=True))
server = fastmcp.FastMCP("judge", auth=auth)


@server.tool
def add(a: int, b: int) -> int:
    return a + b


print(address, flush=True)
server.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
