"""Request builders and scripted conversations, by feature. A probe makes evidence and asserts nothing."""
