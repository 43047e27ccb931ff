"""Tests of documents and of each way to render them."""
