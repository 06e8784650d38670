"""Installation: installs the requirements of frameworks and tools, and builds them."""
