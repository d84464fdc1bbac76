"""Git clones as landings: the commits a default branch contains, streamed, so that memory does not grow with them."""
