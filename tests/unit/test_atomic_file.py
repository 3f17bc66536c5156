import pytest

from thresher.atomic_file import atomic_write, renamed_when_complete
from thresher.errors import ExportError


def write(unfinished, path, content, **how):
    with renamed_when_complete(unfinished, path, **how):
        unfinished.write_text(content)


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_gets_its_name_when_it_is_complete(tmp_path, durable):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with renamed_when_complete(tmp_path / "part", path, durable=durable):
        (tmp_path / "part").write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_must_not_be_replaced_stays_as_it_is(tmp_path):
    path = tmp_path / "a.txt"
    write(tmp_path / "part", path, "first", replace=False)
    with pytest.raises(FileExistsError):
        write(tmp_path / "part", path, "second", replace=False)
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_nothing_behind(tmp_path):
    with pytest.raises(ZeroDivisionError), atomic_write(tmp_path / "a.txt") as unfinished:
        raise ZeroDivisionError(unfinished.write_text("half"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named_in_the_error(tmp_path):
    with pytest.raises(ExportError, match="choose another place"), atomic_write(tmp_path / "none" / "a.txt"):
        pass
