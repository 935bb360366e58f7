"""The shell: HTTP in, model call out, the clock, the tasks, the command line."""
