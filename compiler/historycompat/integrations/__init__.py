"""The one driver at work in client libraries: each module is imported by name, with the library that it is for."""
