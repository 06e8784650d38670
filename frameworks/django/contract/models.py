"""The tables of the database, which are there already."""

from django.db import models


class World(models.Model):
    """A row with a number."""

    random_number = models.IntegerField()

    class Meta:
        managed = False
        db_table = "world"

    def as_json(self) -> dict[str, int]:
        """What a response says of it."""
        return {"id": self.id, "randomNumber": self.random_number}


class Fortune(models.Model):
    """A row with a sentence."""

    message = models.TextField()

    class Meta:
        managed = False
        db_table = "fortune"
