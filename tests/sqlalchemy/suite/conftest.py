"""Nothing here is collected by the main run: SQLAlchemy's suite takes pytest over,
so it has a process of its own.
"""

collect_ignore_glob = ["*.py"]
