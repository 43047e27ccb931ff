"""The sandbox: levels that limit what a bot can see, touch and use, and probes that prove them."""
