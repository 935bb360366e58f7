"""Rules that evolve: chosen by session, judged by what agents do next, learned from the archive."""
