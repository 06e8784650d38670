"""What the paths of the contract that use the database answer."""

import random
from operator import attrgetter

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from contract.models import Fortune, World

ROWS = 10_000
MOST_UPDATES = 500
ADDED = "This sentence was added when the request came."


@require_GET
def world(request: HttpRequest, row: int) -> HttpResponse:
    """One row, by its id."""
    return JsonResponse(get_object_or_404(World, id=row).as_json())


@require_GET
def fortunes(request: HttpRequest) -> HttpResponse:
    """All sentences and one more, sorted, as a page."""
    found = sorted([*Fortune.objects.all(), Fortune(0, ADDED)], key=attrgetter("message"))
    return render(request, "fortunes.html", {"fortunes": found})


@require_POST
def updates(request: HttpRequest, count: int) -> HttpResponse:
    """Rows that are read, get new numbers, and are written.

    They are locked in the order of their ids, so that transactions wait for each other and never in
    a circle.
    """
    if not 1 <= count <= MOST_UPDATES:
        return HttpResponseBadRequest("not a number from 1 to 500\n", content_type="text/plain")
    ids = random.sample(range(1, ROWS + 1), count)
    with transaction.atomic():
        worlds = list(World.objects.select_for_update().filter(id__in=ids).order_by("id"))
        for each in worlds:
            each.random_number = random.randint(1, ROWS)
        World.objects.bulk_update(worlds, ["random_number"])
    return JsonResponse([each.as_json() for each in worlds], safe=False)
