"""The machine of a simulated run: what its containers do, its images, its faults."""
