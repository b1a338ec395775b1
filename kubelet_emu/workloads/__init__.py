"""Deployments, ReplicaSets, StatefulSets, DaemonSets and CronJobs, as far as their pods go: rules and one actor."""
