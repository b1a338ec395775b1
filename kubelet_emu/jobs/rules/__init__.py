"""The Job controller's decisions: values in, values out."""
