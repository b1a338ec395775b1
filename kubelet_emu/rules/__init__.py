"""Pure decisions of the kubelet: values in, values out; no clock, no I/O."""
