"""An in-memory store of API objects, as the kubelet and the controllers see the API server."""
