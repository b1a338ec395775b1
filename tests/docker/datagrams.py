"""Sends and answers datagrams; run within a pod's network, from this machine, by `nsenter`."""

from __future__ import annotations

import socket
import sys


def answer(family: socket.AddressFamily, port: int) -> None:
    """Answer each datagram with its text and who sent it; say when that begins."""
    with socket.socket(family, socket.SOCK_DGRAM) as listener:
        listener.bind(("", port))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            text, sender = listener.recvfrom(1000)
            listener.sendto(text + b" from " + sender[0].encode(), sender)


def ask(address: str, port: int, text: str) -> str:
    """Send a text until there is an answer: a datagram may be lost."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.settimeout(1)
        for _ in range(60):
            asking.sendto(text.encode(), (address, port))
            try:
                return asking.recv(1000).decode()
            except (TimeoutError, ConnectionRefusedError):
                continue
    raise TimeoutError(f"nobody answers at {address} port {port}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["answer", family, port]:
            answer(socket.AF_INET6 if family == "6" else socket.AF_INET, int(port))
        case ["ask", address, port, text]:
            sys.stdout.write(ask(address, int(port), text))
