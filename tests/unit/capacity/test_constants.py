"""Every constant says where it comes from."""

from dataclasses import fields

from thresher.capacity.constants import CapacityConstants, load_constants, read_measurements


def test_every_constant_was_measured_by_a_command_on_a_day_and_a_machine():
    measured = read_measurements()
    named = {field.name for field in fields(CapacityConstants)}
    assert set(measured) == {*named, "pure_worker_pages_per_second"}
    for each in measured.values():
        assert set(each) == {"value", "measured_by", "on", "machine"}
        assert each["measured_by"].startswith(("python -m bench.", "thresher "))


def test_the_constants_are_above_zero():
    loaded = load_constants()
    assert all(getattr(loaded, field.name) > 0 for field in fields(loaded))


def test_without_compiled_loops_a_worker_is_slower():
    speeds = [load_constants(is_compiled=each).worker_pages_per_second for each in (False, True)]
    assert speeds == sorted(speeds)
    assert len({*speeds, load_constants().worker_pages_per_second}) == 2
