"""Data: from whatever users have to the few array types the core reads."""
