"""Tests of `tournaments/report/html`."""
