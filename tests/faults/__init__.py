"""What the crawler survives: it is killed from outside, and the recording server tells what became of its promises."""
