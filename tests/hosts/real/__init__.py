"""The real host programs, installed into scratch homes and run on a scripted model: `make test-hosts`."""
