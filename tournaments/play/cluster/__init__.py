"""The play of an event on many machines: the only place that knows Dask."""
