"""Statistics: pure functions of numbers; they know nothing of trials, servers or units."""
