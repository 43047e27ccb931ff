"""Commands about events that were played: show, rate, verify, report and export them."""
