"""Container runtimes behind one interface in the words of the CRI."""
