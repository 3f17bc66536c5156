"""What happens to a response: parse, judge, score links, commit."""
