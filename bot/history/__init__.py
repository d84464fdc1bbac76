"""Git clones as landings: what a default branch reaches, streamed, so that memory does not grow with the history."""
