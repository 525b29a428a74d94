"""The server, its catalogue and the terminal."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import CATALOGUE, CATALOGUE_REFUSALS, TERMINAL, WIRE

FAULTS = (
    Fault(
        "the terminal pays before the person agrees",
        "dpsql/repl/statement_execution.py",
        "            consent(plan, Fraction(0))\n",
        "",
        (f"{TERMINAL}_commands.py::test_a_price_above_the_limit_is_asked_about",),
    ),
    Fault(
        "what a script may cost counts each statement alone",
        "dpsql/repl/repl_session.py",
        "        require_within(self.rules.most, self.paid + charged, price)",
        "        require_within(self.rules.most, charged, price)",
        (f"{TERMINAL}_batch.py::test_no_more_is_paid_than_was_allowed",),
    ),
    Fault(
        "a dry run writes a file by paying for it",
        "dpsql/repl/commands.py",
        "            if repl.rules.dry:\n                return repl.ask(text)\n",
        "",
        (f"{TERMINAL}_batch.py::test_a_dry_run_tells_prices_and_pays_nothing",),
    ),
    Fault(
        "describing a statement on the wire runs it",
        "dpsql/server/query_routing.py",
        "            planned = self._session.plan(query.text)\n",
        "            planned = self._session.plan(query.text)\n            self._answered(query, self._planned)\n",
        (f"{WIRE}_protocol.py::test_describing_costs_nothing_and_executing_costs_once",),
    ),
    Fault(
        "a fault of the server tells what Python said",
        "dpsql/server/protocol/error_response.py",
        '        case _:\n            fields["D"] = _noted(error)\n',
        '        case _:\n            fields["D"] = str(error)\n',
        (f"{WIRE}_protocol.py::test_a_fault_is_one_constant_message",),
    ),
    Fault(
        "the server listens to everybody without users",
        "dpsql/server/listener.py",
        "    if is_loopback(host):\n",
        "    if host:\n",
        (f"{WIRE}_tls.py::test_off_the_loopback_tls_and_users_are_needed",),
    ),
    Fault(
        "passwords are asked for without TLS",
        "dpsql/server/authentication/login.py",
        "    if policy.tls_required and not wire.secured:\n",
        "    if policy.tls_required and not user:\n",
        (f"{WIRE}_tls.py::test_where_tls_is_required_nobody_is_asked_for_a_password_without_it",),
    ),
    Fault(
        "a name that nobody has costs less work",
        "dpsql/server/authentication/users.py",
        "        return self.verifiers.get(name, invented)\n",
        "        return self.verifiers.get(name) or Verifier.read(str(invented))\n",
        (f"{WIRE}_users.py::test_an_unknown_user_costs_the_same_work",),
    ),
    Fault(
        "what came before TLS is read after it",
        "dpsql/server/protocol/stream.py",
        "        if self._in:\n            raise MalformedMessage\n",
        "",
        (f"{WIRE}_tls.py::test_what_was_sent_before_tls_began_is_not_read_after_it",),
    ),
    Fault(
        "functions that were not renamed reach the catalogue's engine",
        "dpsql/server/catalogue/rewrite/parsing.py",
        "            if not name.startswith(CALL) and name not in _CALLED:\n",
        "            if not name:\n",
        (f"{CATALOGUE_REFUSALS}::test_nothing_but_the_catalogue_is_reached",),
    ),
    Fault(
        "characters that cannot be seen reach the catalogue's engine",
        "dpsql/server/catalogue/rewrite/__init__.py",
        "    require_seen(text)\n",
        "",
        (f"{CATALOGUE_REFUSALS}::test_nothing_but_the_catalogue_is_reached",),
    ),
    Fault(
        "a WITH query lends its name to tables that cannot see it",
        "dpsql/server/catalogue/rewrite/relations.py",
        "            if last:\n                break\n",
        "",
        (f"{CATALOGUE_REFUSALS}::test_nothing_but_the_catalogue_is_reached",),
    ),
    Fault(
        "the log has the constants of a statement over the catalogue",
        "dpsql/server/catalogue/error_messages.py",
        '"?" if "\'" in word or "$" in word or word[:1].isdigit() else word',
        "word",
        (f"{CATALOGUE_REFUSALS}::test_the_log_has_neither_constants_nor_words_of_the_store",),
    ),
    Fault(
        "the catalogue has a number of rows",
        "dpsql/server/catalogue/store/build.py",
        '"relpages": 0, "reltuples": -1.0,',
        '"relpages": 1, "reltuples": 5.0,',
        (f"{CATALOGUE}::test_rows_and_sizes_are_constants",),
    ),
    Fault(
        "statistics count rows",
        "dpsql/server/catalogue/store/views.py",
        '{", ".join(f"0 AS {each}" for each in counters)}',
        '{", ".join(f"len(r.relname) AS {each}" for each in counters)}',
        (f"{CATALOGUE}::test_rows_and_sizes_are_constants",),
    ),
    Fault(
        "a table without a declared key is said to have one",
        "dpsql/server/catalogue/store/objects.py",
        "        keys = [table.key] if table.key is not None else []\n",
        "        keys = [table.key or (next(iter(table.columns)),)]\n",
        (f"{CATALOGUE}::test_keys_are_those_that_the_schema_declares",),
    ),
    Fault(
        "a foreign key that nobody declared is shown",
        "dpsql/server/catalogue/store/objects.py",
        "table.references.items():\n            parent, _, parent_column",
        "{**table.references, 'id': 'orders.id'}.items():\n            parent, _, parent_column",
        (f"{CATALOGUE}::test_keys_are_those_that_the_schema_declares",),
    ),
    Fault(
        "a catalogue that cannot answer says that there is nothing",
        "dpsql/server/catalogue/catalogue.py",
        "        raise told\n",
        "        return [], []  # type: ignore[return-value]\n",
        (
            f"{CATALOGUE_REFUSALS}::test_it_refuses_in_postgresqls_shape",
            f"{CATALOGUE_REFUSALS}::test_errors_have_no_words_of_the_store",
        ),
    ),
    Fault(
        "relations that dpsql does not know are empty",
        "dpsql/server/catalogue/rewrite/relations.py",
        "    if relation not in relations:\n",
        "    if relation not in relations and table.name.startswith('pg_'):\n"
        "        nothing = exp.select(exp.alias_(exp.Null(), 'oid')).where(exp.false())\n"
        "        return exp.Subquery(this=nothing, alias=exp.TableAlias(this=exp.to_identifier(table.name)))\n"
        "    if relation not in relations:\n",
        (f"{CATALOGUE_REFUSALS}::test_it_refuses_in_postgresqls_shape",),
    ),
    Fault(
        "relations about more than the schema file are empty",
        "dpsql/server/catalogue/rewrite/relations.py",
        "    if table.name in _CLOSED:\n",
        "    if table.name in ():\n",
        (f"{CATALOGUE_REFUSALS}::test_it_refuses_in_postgresqls_shape",),
    ),
    Fault(
        "an analyst sees the name of another",
        "dpsql/server/catalogue/catalogue.py",
        "                return literal(self._user)\n",
        '                return literal(self._store.__dict__.setdefault("user", self._user))\n',
        (f"{CATALOGUE_REFUSALS}::test_nobody_sees_the_name_of_another",),
    ),
    Fault(
        "settings of one analyst are shown to another",
        "dpsql/server/catalogue/catalogue.py",
        "        self._settings = self._assigned if settings is None else settings\n",
        "        self._settings = self._store.__dict__.setdefault('settings', settings or self._assigned)\n",
        (f"{CATALOGUE_REFUSALS}::test_nobody_sees_the_name_of_another",),
    ),
    Fault(
        "the catalogue's own DuckDB opens files",
        "dpsql/server/catalogue/store/build.py",
        '    run("SET enable_external_access = false")\n',
        "",
        (f"{CATALOGUE_REFUSALS}::test_the_store_itself_opens_no_file",),
    ),
    Fault(
        "settings of the catalogue's own DuckDB can be changed",
        "dpsql/server/catalogue/store/build.py",
        "COMMIT; SET lock_configuration = true",
        "COMMIT",
        (f"{CATALOGUE_REFUSALS}::test_the_store_itself_opens_no_file",),
    ),
    Fault(
        "one analyst may have all the places",
        "dpsql/postprocessing/pool.py",
        "max(1, most // 2)",
        "most",
        ("tests/session/test_database.py::test_one_analyst_has_half_of_the_sandboxes_at_most",),
    ),
    Fault(
        "who asks most often goes first",
        "dpsql/postprocessing/pool.py",
        "min(able, key=lambda ticket: self._held[ticket.analyst])",
        "able[0]",
        ("tests/session/test_database.py::test_a_free_place_goes_to_who_holds_fewest_and_then_to_who_came_first",),
    ),
    Fault(
        "a terminal obeys what results hold",
        "dpsql/repl/screen.py",
        "        text = visible(text) if self.interactive or sys.stdout.isatty() else text\n",
        "",
        (f"{TERMINAL}_commands.py::test_a_terminal_is_told_nothing_that_it_would_obey",),
    ),
)
