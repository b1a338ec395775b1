"""What kubectl prints of API objects, as pure functions: object, events and the time now in, text out.

`describe.describe_pod` and `describe_job.describe_job` are the doors. Nothing here reads a clock or asks a server.
"""
