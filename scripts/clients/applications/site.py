"""Django's admin, as docs/origin.md says that it must be told: `site.py PORT FOLDER [no-redirect]`."""

import os
import sys

from cheroot.wsgi import Server
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.urls import path

port, folder = int(sys.argv[1]), sys.argv[2]
apps = ["admin", "auth", "contenttypes", "sessions", "messages"]
middleware = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
processors = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
settings.configure(
    SECRET_KEY="not a secret: this site lives for a test",
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[f"django.contrib.{app}" for app in apps],
    MIDDLEWARE=middleware,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": processors},
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(folder, "site.db")}},
    STATIC_URL="static/",
    # What the page says.
    ALLOWED_HOSTS=["shop.example", "127.0.0.1"],
    USE_X_FORWARDED_HOST=True,
    SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
    # What a site of its own may well have, and what goes wrong first behind a proxy.
    SECURE_SSL_REDIRECT="no-redirect" not in sys.argv,
    SESSION_COOKIE_SECURE=True,
    CSRF_COOKIE_SECURE=True,
)
application = get_wsgi_application()

from django.contrib import admin  # noqa: E402  (after the settings)
from django.contrib.auth import get_user_model  # noqa: E402

urlpatterns = [path("admin/", admin.site.urls)]
call_command("migrate", verbosity=0)
get_user_model().objects.create_superuser("ada", "ada@shop.example", "lovelace")

Server(("127.0.0.1", port), application).start()
