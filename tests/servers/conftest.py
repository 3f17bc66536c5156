from testing.servers.fixtures import (  # noqa: F401
    cluster_of_session,
    cluster_url,
    store_server_of_session,
    store_url,
)
