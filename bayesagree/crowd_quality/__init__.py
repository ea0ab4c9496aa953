"""CrowdTruth: quality of items, annotators and labels by their mutual agreement, with its uncertainty."""
