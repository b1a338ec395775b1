"""What the workload controllers decide: values in, values out."""
