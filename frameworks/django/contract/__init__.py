"""A Django project that answers the contract."""
