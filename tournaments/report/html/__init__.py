"""The HTML page of an event: its values, its template, its script and its styles."""
