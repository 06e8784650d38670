"""What one verb found: a comparison, an audit, load lines, a history, as text, tables and JSON."""
