"""Call a function and print what it returns: ``unshare -n python -m testing.servers.private MODULE:FUNCTION JSON``."""

from __future__ import annotations

import json
import sys

from testing.servers.island import call_here

if __name__ == "__main__":
    print(json.dumps(call_here(sys.argv[1], json.loads(sys.argv[2]))))
