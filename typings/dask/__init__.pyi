"""The little of dask that is used."""

from dask import config as config
