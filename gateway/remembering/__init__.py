"""The levels of memory in the gateway: archive rounds, what exchanges prove, pages, the index put in."""
