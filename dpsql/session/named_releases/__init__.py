"""Releases that a statement creates under a name and that stay: how they are created, listed,
read and dropped.
"""

from dpsql.session.named_releases.registry import NamedReleases

__all__ = ["NamedReleases"]
