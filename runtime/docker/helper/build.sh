#!/bin/sh
# Assemble helper-*.S and write code.py. For developers only: needs binutils for both machines
# (Debian: binutils, binutils-aarch64-linux-gnu). Users run the bytes of code.py.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for machine in x86_64 aarch64; do
    prefix=$machine-linux-gnu-
    command -v "${prefix}as" >/dev/null || prefix=
    "${prefix}as" -o "$out/$machine.o" "helper-$machine.S"
    "${prefix}objcopy" -O binary -j .text "$out/$machine.o" "$out/$machine.bin"
done
python3 - "$out" >code.py <<'PY'
import pathlib, sys
print('"""Machine code of the helper, position independent; written by build.sh from helper-*.S."""\n')
for machine in ("x86_64", "aarch64"):
    text = pathlib.Path(sys.argv[1], machine + ".bin").read_bytes().hex()
    print(f"{machine.upper()} = bytes.fromhex(")
    print("\n".join(f'    "{text[at:at + 104]}"' for at in range(0, len(text), 104)))
    print(")")
PY
