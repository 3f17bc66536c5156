"""Every constant says where it comes from."""

from dataclasses import fields

from thresher.capacity.constants import CapacityConstants, load_constants, read_measurements


def test_every_constant_was_measured_by_a_command_on_a_day_and_a_machine():
    measured = read_measurements()
    assert set(measured) == {field.name for field in fields(CapacityConstants)}
    for each in measured.values():
        assert set(each) == {"value", "measured_by", "on", "machine"}
        assert each["measured_by"].startswith(("python -m bench.", "thresher "))


def test_the_constants_are_above_zero():
    constants = load_constants()
    assert all(getattr(constants, field.name) > 0 for field in fields(constants))
