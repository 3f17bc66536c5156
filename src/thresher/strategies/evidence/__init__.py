"""What a link shows before it is followed: one formula per file."""
