"""How is work deferred? One small interface with two engines, which share the same rows and the same behaviour."""
