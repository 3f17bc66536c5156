"""What a user wants: phrases, keywords, seeds."""
