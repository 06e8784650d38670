"""Paths of the contract."""

from django.urls import include, path

from contract import database_views, views, web_views

ROUTES = 1000

many_routes = [path(f"{k}/x/<int:number>", web_views.route, {"k": k}) for k in range(ROUTES)]

urlpatterns = [
    path("empty", views.empty),
    path("plaintext", views.constant, {"body": b"Hello, World!"}),
    path("2048", views.constant, {"body": views.BODY_2048}),
    path("8192", views.constant, {"body": b"A" * 8192}),
    path("32768", views.constant, {"body": b"A" * 32768}),
    path("getArgs2048", views.query_args),
    path("postArgs2048", views.form_args),
    path("postArgsMulti2048", views.form_args),
    path("args", views.checksum),
    path("json", views.json_echo),
    path("fibonacci/<int:n>", views.fibonacci),
    path("db/<int:row>", database_views.world),
    path("fortunes", database_views.fortunes),
    path("updates/<int:count>", database_views.updates),
    path("items/<int:count>", web_views.items),
    path("upload", web_views.upload),
    path("json-in", web_views.json_in),
    path("stream/<int:count>", web_views.stream),
    path("auth", web_views.subject),
    path("up/<int:row>", web_views.doubled),
    # Django tries one pattern after another: only paths that begin like this pay for a thousand.
    path("r/", include(many_routes)),
]
