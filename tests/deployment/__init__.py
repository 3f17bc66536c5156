"""The deployment, run for real: images, Compose and Kubernetes' objects in podman."""
