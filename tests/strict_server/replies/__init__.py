"""What the strict server answers to a request that it accepts."""
