"""The in-memory API server: what the kubelet and the controllers talk to."""
