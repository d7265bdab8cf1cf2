"""ARK model files: one JSON document for each rank."""
