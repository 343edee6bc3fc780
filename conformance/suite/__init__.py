"""The pytest suite: probes by feature. A test makes evidence; what it shows is judged at the end of the session."""
