r"""kubectl's JSONPath templates: `{range .items[*]}{.metadata.name}{"\n"}{end}`. Pure.

Source: client-go v1.36 util/jsonpath.
"""
