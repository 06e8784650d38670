"""What is done: servers are started, loads put on, and what happens is recorded."""
