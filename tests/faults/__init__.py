"""What the crawler survives: it is killed from outside, and the witness tells what became of its promises."""
