# What a contributor runs. It needs `pip install -e ".[dev]"`; CONTRIBUTING.md says what each does.
.PHONY: check style types imports test fault docs

check: style types imports

style:
	ruff check .
	ruff format --check .

types:
	mypy

imports:
	lint-imports --no-logo

test:
	pytest

fault:
	python tests/faults/run.py

# docs/write_catalogue_facts.py is not among these: it needs an empty PostgreSQL 15.
docs:
	python docs/write_functions.py
	python docs/write_refusals.py
	python docs/draw_accountants.py
	python docs/draw_demo.py
	python docs/draw_repl.py
	python docs/draw_spending.py
