"""Reports and pictures as XML."""
