"""What is asked: campaigns, frameworks, endpoints and loads, read from their files."""
