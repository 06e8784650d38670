"""Settings of a project without sessions and an administration."""

import os

DEBUG = False

# The server is reached under whatever name or address the driver uses.
ALLOWED_HOSTS = ["*"]

# No cookie, session or token is signed here; Django asks for a SECRET_KEY only when it signs.

# CommonMiddleware sets Content-Length.
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]

# No path of the contract ends with a slash: do not resolve every path a second time to see.
APPEND_SLASH = False

ROOT_URLCONF = "contract.urls"
WSGI_APPLICATION = "contract.wsgi.application"

INSTALLED_APPS = ["contract"]

# Every thread keeps its connection, so a process has as many as it has threads.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ.get("PGHOST", ""),
        "PORT": os.environ.get("PGPORT", ""),
        "USER": os.environ.get("PGUSER", ""),
        "PASSWORD": os.environ.get("PGPASSWORD", ""),
        "NAME": os.environ.get("PGDATABASE", "none"),
        "CONN_MAX_AGE": None,
    }
}

TEMPLATES = [
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True},
]

USE_I18N = False
TIME_ZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "loggers": {"django": {"handlers": ["stderr"], "level": "ERROR"}},
}
