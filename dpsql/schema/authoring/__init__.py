"""What helps an owner to write a schema file: a first draft, a check, and its JSON Schema."""
