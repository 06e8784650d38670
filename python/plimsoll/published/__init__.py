"""Published figures: what other tools printed, and what people published, read as it was meant."""
