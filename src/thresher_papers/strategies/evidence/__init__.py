"""Evidence about a link before it is followed: one formula per file."""
