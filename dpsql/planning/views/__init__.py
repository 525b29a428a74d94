"""Released cores as views, of which later cores are answered (``docs/proofs/views.md``)."""
