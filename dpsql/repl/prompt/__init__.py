"""The prompt at which a person types."""
