//! Estimators, intervals, histograms, comparisons: pure functions
