"""One node with its control plane: API server, scheduler, Job controller, kubelet."""
