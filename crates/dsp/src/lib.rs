//! Kernels on slices and SigMF files
