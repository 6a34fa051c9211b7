//! Environments, workloads, experiments, the results store
