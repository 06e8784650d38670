"""Paths of the contract."""

from django.urls import path

from contract import database_views, views

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
]
