"""The fuzzers are commands of their own: one needs atheris, both run for as long as is wanted."""

collect_ignore = ["fuzz_front.py", "fuzz_wire.py"]
