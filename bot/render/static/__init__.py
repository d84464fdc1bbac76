"""A site of files: pages without a server, with relative links, about nobody who did not agree."""
