"""Models of subjective labels: whose opinion does a model serve? Groups of annotators, with uncertainty."""
