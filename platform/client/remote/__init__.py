"""What `lgbench` does over HTTP: calls with safe retries, uploads that resume, submissions, waiting, results."""
