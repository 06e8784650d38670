"""Published figures: documents, their claims, and counterparts in this repository."""
