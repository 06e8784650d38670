"""What the benches are made of: servers and tools as processes, paired ratios, Markdown."""
