"""A saved model comes back the same, and a file that is not what it should be is refused in plain words."""

import hashlib
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from tests.unit.judges.small_corpus import documents, pipelines
from thresher.errors import ThresherError
from thresher_papers.judges.persistence import files
from thresher_papers.judges.persistence.files import MANIFEST, Training, load, read_manifest, save
from thresher_papers.judges.persistence.flatten import flatten

TRAIN, Y = documents(90)
NEW, _ = documents(25, seed=1)


@pytest.fixture(scope="module")
def fitted():
    return {name: pipeline.fit(TRAIN, Y) for name, pipeline in pipelines().items()}


@pytest.fixture(scope="module")
def trained(fitted):
    return {name: flatten(pipeline) for name, pipeline in fitted.items()}


@pytest.fixture
def folder(trained, tmp_path):
    save(trained["itfidf"], tmp_path / "model")
    return tmp_path / "model"


def scores(scorer):
    return [scorer.scores(scorer.count(page)) for page in NEW]


def rewrite(folder, change):
    """Change the manifest behind the program's back."""
    manifest = json.loads((folder / MANIFEST).read_text())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def replace_arrays(folder, content):
    """Put other arrays in place, with a checksum that fits."""

    def change(manifest):
        [name] = [name for name in manifest["files"] if name.endswith(".npz")]
        (folder / name).write_bytes(content)
        manifest["files"][name] = hashlib.sha256(content).hexdigest()

    rewrite(folder, change)


def change_array(folder, name, value, tmp_path):
    [path] = folder.glob("arrays-*.npz")
    with np.load(path) as arrays:
        changed = {**arrays, name: value}
    np.savez(tmp_path / "changed.npz", **changed)
    replace_arrays(folder, (tmp_path / "changed.npz").read_bytes())


@pytest.mark.parametrize("name", pipelines())
def test_a_model_comes_back_with_equal_scores(trained, name, tmp_path):
    scorer = trained[name]
    save(scorer, tmp_path)
    again = load(tmp_path)
    assert scores(again) == scores(scorer)
    assert again.words(again.count(NEW[0]), "music") == scorer.words(scorer.count(NEW[0]), "music")


def test_a_model_is_loaded_without_scikit_learn(trained, tmp_path):
    save(trained["itfidf"], tmp_path)
    script = (
        "import sys; from pathlib import Path; from thresher_papers.judges.persistence.files import load;"
        "load(Path(sys.argv[1]));print(*sys.modules)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"sklearn", "scipy"} & set(loaded)


def test_the_manifest_says_where_the_model_comes_from(trained, tmp_path):
    training = Training(examples=90, data_hash="abc", scores={"macro F1": 0.9})
    save(trained["itfidf"], tmp_path, training, now=datetime(2026, 11, 15, tzinfo=UTC))
    manifest = read_manifest(tmp_path)
    assert manifest["created"] == "2026-11-15T00:00:00+00:00"
    assert manifest["training"] == {"examples": 90, "data_hash": "abc", "scores": {"macro F1": 0.9}}
    assert set(manifest["versions"]) == {"python", "thresher", "numpy", "scipy", "scikit-learn"}
    assert manifest["model"]["kind"] == "plain-scorer"


def test_a_model_takes_the_place_of_the_one_before(trained, folder):
    save(trained["counts"], folder)
    assert scores(load(folder)) == scores(trained["counts"])
    assert len(list(folder.iterdir())) == 3


def test_a_save_that_is_cut_off_leaves_the_old_model(trained, folder, monkeypatch):
    write = files._write

    def cut_off(path, content):
        if path.name == MANIFEST:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(files, "_write", cut_off)
    with pytest.raises(KeyboardInterrupt):
        save(trained["counts"], folder)
    assert scores(load(folder)) == scores(trained["itfidf"])


def test_a_folder_without_a_model_is_reported(tmp_path):
    with pytest.raises(ThresherError, match=r"manifest.json cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize("kind", ["os.system", "pipeline", "linear-svm", None, ["plain-scorer"]])
def test_another_kind_is_refused(folder, kind):
    rewrite(folder, lambda manifest: manifest["model"].update(kind=kind))
    with pytest.raises(ThresherError, match=r"cannot be loaded, only 'plain-scorer'"):
        load(folder)


@pytest.mark.parametrize("model", [None, [], "plain-scorer", {}])
def test_a_manifest_without_a_model_is_refused(folder, model):
    rewrite(folder, lambda manifest: manifest.update(model=model))
    with pytest.raises(ThresherError, match=r"the kind None cannot be loaded"):
        load(folder)


def test_a_newer_format_is_refused(folder):
    rewrite(folder, lambda manifest: manifest.update(format=files.FORMAT + 1))
    with pytest.raises(ThresherError, match="newer Thresher"):
        load(folder)


def test_a_damaged_file_is_refused(folder):
    [path] = folder.glob("arrays-*.npz")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ThresherError, match="checksum"):
        load(folder)


def test_files_outside_the_folder_are_refused(folder):
    rewrite(folder, lambda manifest: manifest["files"].update({"../secret": "0"}))
    with pytest.raises(ThresherError, match="not its own"):
        load(folder)


class Trap:
    """Something that runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


def test_arrays_of_objects_are_refused(folder, tmp_path):
    np.savez(tmp_path / "objects.npz", trap=np.array([Trap()], dtype=object))
    replace_arrays(folder, (tmp_path / "objects.npz").read_bytes())
    with pytest.raises(ThresherError, match="arrays cannot be read"):
        load(folder)


def test_pickles_are_refused(folder):
    replace_arrays(folder, pickle.dumps(Trap()))
    with pytest.raises(ThresherError, match="arrays cannot be read"):
        load(folder)


@pytest.mark.parametrize("value", [np.ones(3), np.ones((30, 1)), np.ones(30, dtype="U1"), np.ones(30, dtype=int)])
def test_an_array_of_the_wrong_shape_or_type_is_refused(folder, value, tmp_path):
    change_array(folder, "idf", value, tmp_path)
    with pytest.raises(ThresherError, match=r"the array idf"):
        load(folder)


@pytest.mark.parametrize(("name", "change"), [("columns", 10_000), ("columns", -10), ("starts", 1)])
def test_an_index_that_points_outside_of_the_model_is_refused(folder, name, change, tmp_path):
    with np.load(next(iter(folder.glob("arrays-*.npz")))) as arrays:
        outside = arrays[name] + change
    change_array(folder, name, outside, tmp_path)
    with pytest.raises(ThresherError, match="point outside"):
        load(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": {}},
        {"numbers": []},
        {"numbers": dict.fromkeys(("unit_length", "sublinear", "by_length", "temperature", "probabilistic"), "1")},
        {"mappings": {}},
        {"mappings": {"sections": 3}},
        {"mappings": {"sections": {"body": "heavy"}}},
    ],
)
def test_numbers_that_are_missing_or_are_none_are_refused(folder, change):
    rewrite(folder, lambda manifest: manifest["model"].update(change))
    with pytest.raises(ThresherError, match="saved plain-scorer is incomplete"):
        load(folder)


def test_a_model_of_another_class_is_not_saved(fitted, tmp_path):
    with pytest.raises(ThresherError, match="class Pipeline cannot be saved; only a PlainScorer can"):
        save(fitted["itfidf"], tmp_path)


@pytest.mark.parametrize("change", [{"temperature": float("nan")}, {"sections": {"body": object()}}])
def test_a_value_that_json_does_not_know_is_not_saved(trained, change, tmp_path):
    with pytest.raises(ThresherError, match="cannot be saved"):
        save(replace(trained["itfidf"], **change), tmp_path)
    assert not (tmp_path / MANIFEST).exists()


def test_labels_that_are_objects_are_not_saved(trained, tmp_path):
    with pytest.raises(ThresherError, match="classes must be text or whole numbers"):
        save(replace(trained["itfidf"], labels=[None, 1, "music"]), tmp_path)
