"""The fuzzer is a command of its own: it needs atheris, which the tests do without."""

collect_ignore = ["fuzz_front.py"]
