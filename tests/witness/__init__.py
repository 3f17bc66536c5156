"""The witness: a web server in its own process that writes down every request it gets, by its own clock."""
