"""simulate.yaml: what the containers of a simulated run do, what its images are, and what goes wrong."""
