"""KubeletConfiguration and feature gates."""
