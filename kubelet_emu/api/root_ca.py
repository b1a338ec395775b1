"""The ConfigMap with the cluster's certificate authority that every namespace of a cluster has.

There is no cluster here, so a stand-in takes its place where no manifest has one: a real certificate, so that programs
can read it, whose key was thrown away, so that nobody can be who it vouches for.
Source: kubernetes v1.36 pkg/controller/certificates/rootcacertpublisher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.kinds import api_type

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import ConfigMap

ROOT_CA_CONFIG_MAP = "kube-root-ca.crt"
ROOT_CA_KEY = "ca.crt"
STAND_IN_CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBtjCCAVugAwIBAgIUPkLehaucV70x93SuJGPchQ2SBKUwCgYIKoZIzj0EAwIw
NjE0MDIGA1UEAwwra3ViZWxldC1lbXUgc3RhbmQtaW4gQ0E6IG5vYm9keSBoYXMg
aXRzIGtleTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowNjE0MDIG
A1UEAwwra3ViZWxldC1lbXUgc3RhbmQtaW4gQ0E6IG5vYm9keSBoYXMgaXRzIGtl
eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHr5c7WiEVhhbJYJW3uvwiJhZkX6
Dg/75/5NvsWpUGNeP3QiGaz6CSeocEO8El9NT3ls+0UX6c0ykoNUCzhBvUejRTBD
MBIGA1UdEwEB/wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBRY
O6EBFvE0DWnUuF/R5QU8IKYIBDAKBggqhkjOPQQDAgNJADBGAiEA9H0cFATQJ0Fy
UQzVwZphJ37hWAm4e6Av8vTYQOI+geQCIQDkKmNrQ2eQNdLZep0SosRZNdiMp/dj
AZe5zxSWqvzIkA==
-----END CERTIFICATE-----
"""


def stand_in_root_ca(namespace: str) -> ConfigMap:
    """Return the ConfigMap that takes the place of a namespace's kube-root-ca.crt.

    Differs: in a cluster its certificate is the one of the API server's authority.
    """
    metadata = api_type("ObjectMeta")(name=ROOT_CA_CONFIG_MAP, namespace=namespace)
    config_map: ConfigMap = api_type("ConfigMap")(metadata=metadata, data={ROOT_CA_KEY: STAND_IN_CERTIFICATE})
    return config_map
