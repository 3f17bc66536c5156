"""What the open web does: servers, pages, walls and languages that our own generated webs do not have."""
