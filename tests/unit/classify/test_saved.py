"""A saved model comes back the same, and a file that is not what it should be is refused in plain words."""

import hashlib
import json
import pickle
import subprocess
import sys
from datetime import UTC, datetime

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler

from tests.unit.classify.small_corpus import documents, pipelines
from thresher.classify import saved
from thresher.classify.flatten import flatten
from thresher.classify.layers import LayerClassifier
from thresher.classify.saved import MANIFEST, Training, load, read_manifest, save
from thresher.errors import ThresherError

TRAIN, Y = documents(90)
NEW, _ = documents(25, seed=1)


@pytest.fixture(scope="module")
def trained():
    return {name: pipeline.fit(TRAIN, Y) for name, pipeline in pipelines().items()}


@pytest.fixture
def folder(trained, tmp_path):
    save(trained["itfidf"], tmp_path / "model")
    return tmp_path / "model"


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
def test_a_pipeline_comes_back_with_equal_predictions(trained, name, tmp_path):
    save(trained[name], tmp_path)
    again, ask = load(tmp_path), "predict_proba" if hasattr(trained[name], "predict_proba") else "decision_function"
    assert (getattr(again, ask)(NEW) == getattr(trained[name], ask)(NEW)).all()
    assert again.predict(NEW).tolist() == trained[name].predict(NEW).tolist()


@pytest.mark.parametrize("name", pipelines())
def test_every_step_of_a_pipeline_comes_back_by_itself(trained, name, tmp_path):
    rows = NEW
    for _, step in trained[name].steps:
        save(step, tmp_path)
        again, ask = load(tmp_path), "transform" if hasattr(step, "transform") else "predict"
        expected, rows = getattr(step, ask)(rows), getattr(again, ask)(rows)
        assert repr(again) == repr(step)
        assert (expected != rows).sum() == 0


@pytest.mark.parametrize("name", pipelines())
def test_a_plain_scorer_comes_back_with_equal_scores(trained, name, tmp_path):
    scorer = flatten(trained[name])
    save(scorer, tmp_path)
    again = load(tmp_path)
    assert [again.scores(again.count(page)) for page in NEW] == [scorer.scores(scorer.count(page)) for page in NEW]
    assert again.words(again.count(NEW[0]), "music") == scorer.words(scorer.count(NEW[0]), "music")


def test_layers_keep_their_threshold(tmp_path):
    X = np.random.default_rng(0).poisson(1.0, (60, 8))
    layers = LayerClassifier(random_state=0).fit(X, np.repeat([0, 1, 2], 20))
    save(layers, tmp_path)
    assert load(tmp_path).predict_layers(X).tolist() == layers.predict_layers(X).tolist()


def test_a_plain_scorer_is_loaded_without_scikit_learn(trained, tmp_path):
    save(flatten(trained["itfidf"]), tmp_path)
    script = (
        "import sys; from pathlib import Path; from thresher.classify.saved import load; load(Path(sys.argv[1]));"
        "print(*sys.modules)"
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
    assert manifest["model"]["kind"] == "pipeline"


def test_a_model_takes_the_place_of_the_one_before(trained, folder):
    save(trained["counts"], folder)
    assert load(folder).predict(NEW).tolist() == trained["counts"].predict(NEW).tolist()
    assert len(list(folder.iterdir())) == 3


def test_a_save_that_is_cut_off_leaves_the_old_model(trained, folder, monkeypatch):
    write = saved._write

    def cut_off(path, content):
        if path.name == MANIFEST:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(saved, "_write", cut_off)
    with pytest.raises(KeyboardInterrupt):
        save(trained["counts"], folder)
    assert load(folder).predict(NEW).tolist() == trained["itfidf"].predict(NEW).tolist()


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(ThresherError, match=r"manifest.json cannot be read"):
        load(tmp_path)


def test_an_unknown_kind_is_refused(folder):
    rewrite(folder, lambda manifest: manifest["model"]["steps"][0][1].update(kind="os.system"))
    with pytest.raises(ThresherError, match=r"no kind of model is called 'os\.system'"):
        load(folder)


def test_a_newer_format_is_refused(folder):
    rewrite(folder, lambda manifest: manifest.update(format=saved.FORMAT + 1))
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
    change_array(folder, "itfidf.idf_", value, tmp_path)
    with pytest.raises(ThresherError, match=r"the array itfidf\.idf_"):
        load(folder)


def test_a_matrix_that_points_outside_itself_is_refused(folder, tmp_path):
    name = "weightednaivebayes.seen_log_ratio_.indices"
    with np.load(next(iter(folder.glob("arrays-*.npz")))) as arrays:
        outside = arrays[name] + 10_000
    change_array(folder, name, outside, tmp_path)
    with pytest.raises(ThresherError, match="not whole"):
        load(folder)


def test_steps_that_do_not_fit_each_other_are_refused(folder):
    def swap(manifest):
        steps = manifest["model"]["steps"]
        steps[1], steps[2] = steps[2], steps[1]

    rewrite(folder, swap)
    with pytest.raises(ThresherError, match="takes 30 terms"):
        load(folder)


def test_a_parameter_that_nobody_knows_is_refused(folder):
    rewrite(folder, lambda manifest: manifest["model"]["steps"][2][1]["parameters"].update(run="rm"))
    with pytest.raises(ThresherError, match="saved itfidf is not whole"):
        load(folder)


def test_an_untrained_model_is_not_saved(tmp_path):
    with pytest.raises(ThresherError, match="must be trained"):
        save(LayerClassifier(), tmp_path)


def test_a_model_of_another_kind_is_not_saved(tmp_path):
    with pytest.raises(ThresherError, match="MaxAbsScaler cannot be saved"):
        save(MaxAbsScaler().fit(np.ones((2, 2))), tmp_path)


def test_a_random_state_that_json_does_not_know_is_not_saved(tmp_path):
    X, y = np.eye(4), [0, 0, 1, 1]
    layers = LayerClassifier(random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.raises(ThresherError, match="cannot be saved"):
        save(layers, tmp_path)
    assert not (tmp_path / MANIFEST).exists()
