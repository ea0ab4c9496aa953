"""Whole studies that the papers report: AUC without ground truth, models under two aggregations of rankings."""
