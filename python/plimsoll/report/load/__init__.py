"""One load: the screen that it ends with, one line, Markdown."""
