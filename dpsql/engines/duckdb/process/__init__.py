"""An engine in a process of its own, which is confined and may die (`docs/proofs/process.md`)."""
