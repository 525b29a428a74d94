"""Faults of data elsewhere: what was copied, when it is looked at again,
and where keys and rows may go.
"""

from __future__ import annotations

from planted.fault import Fault

REMOTE, COPYING = (
    "tests/engines/remote/test_remote.py",
    "tests/engines/remote/test_remote_copies.py",
)
COPIES, HTTPS, S3, STORE = (
    f"dpsql/engines/remote/{name}.py" for name in ("copies", "https", "s3", "store")
)
ALL = "dpsql/engines/files/versions.py"
CHANGED = (f"{REMOTE}::test_the_next_statement_reads_what_has_changed_and_is_charged",)
WRONG_OVER_HTTPS = (f"{COPYING}::test_what_goes_wrong_over_https_is_named_in_our_own_words",)

FAULTS = (
    Fault(
        "what is being looked at is told for what lies there",
        COPIES,
        "RemoteCopies._see",
        "after = AGAIN",
        'after = AGAIN\nself._failure = ""',
        (f"{REMOTE}::test_while_the_store_is_asked_again_copies_are_not_told_for_what_lies_there",),
    ),
    Fault(
        "a copy of a file of any length is whole",
        HTTPS,
        "HttpsFiles.read",
        "remaining is None and not response.chunked",
        "False",
        WRONG_OVER_HTTPS,
    ),
    Fault(
        "what was copied is read on though something else lies there",
        ALL,
        "Versions._is_current",
        "if self._copies is not None and self._copies.stale:\n    return False",
        "pass",
        CHANGED,
    ),
    Fault(
        "nobody looks whether what was copied is there still",
        COPIES,
        "RemoteCopies._see",
        "self._store.look()",
        "[file for file, _ in self._copied.values()]",
        CHANGED,
    ),
    Fault(
        "what a file elsewhere holds has no part in the version of copies",
        COPIES,
        "RemoteCopies.content",
        "(path, copy)",
        '(path, "")',
        CHANGED,
    ),
    Fault(
        "the version of copies is where they lie",
        "dpsql/engines/duckdb/attached_source.py",
        "OpenedSource.version",
        "self._source.content or self.held.version",
        "self.held.version",
        (f"{REMOTE}::test_the_same_content_is_the_same_version_wherever_it_is_copied_to",),
    ),
    Fault(
        "copies are answered from though their store forbids",
        COPIES,
        "RemoteCopies.look",
        "if self._failure:\n    raise OperationalError(self._failure)",
        "pass",
        (f"{REMOTE}::test_what_cannot_be_seen_any_more_is_told_before_the_charge",),
    ),
    Fault(
        "others may read copies",
        COPIES,
        "RemoteCopies._brought",
        "os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)",
        "os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)",
        (f"{REMOTE}::test_copies_are_this_users_alone_and_go_with_the_database",),
    ),
    Fault(
        "copies stay behind",
        ALL,
        "Versions.close",
        "if self._copies is not None:\n    self._copies.close()",
        "pass",
        (f"{REMOTE}::test_copies_are_this_users_alone_and_go_with_the_database",),
    ),
    Fault(
        "what is being copied stays behind where the database is closed",
        COPIES,
        "RemoteCopies.close",
        "self._lock.acquire(timeout=2 * PATIENCE if os.getpid() == self._owner else 0)",
        "False",
        (f"{COPYING}::test_what_is_being_copied_goes_with_the_rest_where_the_database_is_closed",),
    ),
    Fault(
        "the time that copying takes is felt",
        ALL,
        "Versions.hold",
        "self._look()",
        "self._look()\n"
        "if self._copies is not None and self._copies.stale:\n"
        "    self._copies.bring()",
        (f"{REMOTE}::test_copying_begins_with_the_bucket_of_the_statement",),
    ),
    Fault(
        "a key leads out of the folder of copies",
        STORE,
        "checked_place",
        '("", ".", "..")',
        '("", ".")',
        (f"{COPYING}::test_no_key_leads_out_of_the_folder_of_copies",),
    ),
    Fault(
        "an object that was written meanwhile is copied as the one that was found",
        S3,
        "S3Objects.read",
        "IfMatch=file.state[0]",
        "",
        (f"{COPYING}::test_an_object_that_is_written_while_it_is_copied_is_never_a_mixture",),
    ),
    Fault(
        "files are copied without another look",
        COPIES,
        "RemoteCopies.bring",
        "if tries_left:\n    self._copy(files)",
        "if tries_left:\n    self._copy(files)\nself._stale = False\nreturn",
        (f"{COPYING}::test_an_object_that_is_written_while_it_is_copied_is_never_a_mixture",),
    ),
    Fault(
        "a half of a file is a copy",
        HTTPS,
        "HttpsFiles.read",
        "if remaining: ...",
        "if remaining is None: ...",
        WRONG_OVER_HTTPS,
    ),
    Fault(
        "rows cross a network as they are, where a server leads there",
        HTTPS,
        "_ToHttpsAlone.redirect_request",
        'urlsplit(newurl).scheme != "https"',
        "not urlsplit(newurl).scheme",
        WRONG_OVER_HTTPS,
    ),
    Fault(
        "rows cross a network as they are, where an endpoint says so",
        S3,
        "_require_secret",
        'parts.scheme != "https"',
        "not parts.scheme",
        (f"{COPYING}::test_what_goes_wrong_in_a_bucket_is_named",),
    ),
    Fault(
        "a password is sent to whatever host a server leads to",
        HTTPS,
        "HttpsFiles._opened",
        "request.add_unredirected_header",
        "request.add_header",
        (f"{COPYING}::test_names_and_passwords_of_netrc_are_sent_to_their_host_alone",),
    ),
)
