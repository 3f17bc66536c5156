"""The files of deploy/, read as their readers read them."""

import json
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"


def text(name):
    return (DEPLOY / name).read_text(encoding="utf-8")


def yaml_of(name):
    return yaml.safe_load(text(name))


def json_of(name):
    return json.loads(text(name))


def manifests():
    """Return every object that kustomization.yaml lists, in its order."""
    listed = yaml_of("kustomization.yaml")["resources"]
    return [entry for name in listed for entry in yaml.safe_load_all(text(name))]
