"""Normal-inverse-gamma posterior."""
