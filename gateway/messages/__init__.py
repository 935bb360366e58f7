"""One message of each API form, read: its texts and where they stand, its calls, and what it says in whatever JSON."""
