"""Bootstrap."""

__all__: list[str] = []
