"""The WSGI application: what gunicorn, mod_wsgi or flup serve."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contract.settings")

application = get_wsgi_application()
