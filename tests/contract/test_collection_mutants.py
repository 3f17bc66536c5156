"""The histories of folders and their collection are worth their time: they find each of these planted faults."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.collection_state_machine import CollectionMachine
from tests.contract.test_collection_histories import STEPS
from thresher.collection import audit, manifest, status, uploader
from thresher.collection.manifest import MANIFEST, ManifestReader, entry_key
from thresher.errors import ThresherError
from thresher.frontier.base import Absence
from thresher.frontier.sqlite.frontier import SqliteFrontier

MAX_HISTORIES = 40


def last_version_is_trusted(patch):
    """A stream goes on after its last entry, also when another machine wrote that."""

    def position(path, stream, entries, flawed=()):
        last = entries.last(stream) if stream else None
        return (last.number + 1, last.last_version) if last else (0, 0)

    for module in (uploader, audit, status):
        patch.setattr(module, "upload_position", position)
    patch.setattr(audit, "settled_rows", lambda path, version: [])


def digests_are_not_compared(patch):
    """An object of the right size is right."""

    def by_size(objects, entries, found):
        sizes = {**objects.sizes("segments"), **objects.sizes("files")}
        found.missing += [entry for entry in entries if entry.key not in sizes]
        found.damaged += [entry for entry in entries if entry.key in sizes and sizes[entry.key] != entry.size]

    patch.setattr(audit, "_check_objects", by_size)


def evictions_explain_everything(patch):
    async def evicted(frontier, urls):
        return [Absence.EVICTED for _ in urls]

    patch.setattr(SqliteFrontier, "absences", evicted)


def gaps_are_ignored(patch):
    """A reader takes only the entries after the last one that it knows."""

    def later_ones(reader, objects, stream, given_up):
        after = reader.next_number(stream) - 1
        return list(objects.sizes(f"{MANIFEST}/{stream}", after=entry_key(stream, after) if after >= 0 else ""))

    patch.setattr(ManifestReader, "_unknown", later_ones)
    patch.setattr(audit, "_check_entries", lambda objects, read, found: read.contents())


def files_are_ordered_by_the_clock(patch):
    patch.setattr(manifest, "is_newer", lambda entry, known: entry.written_at >= known.written_at)


def lost_entries_are_not_uploaded_again(patch):
    """A repair gives up what is lost, and leaves the streams as they are."""
    patch.setattr(ManifestReader, "flawed_streams", lambda reader: set())
    patch.setattr(audit, "settled_rows", lambda path, version: [])


FAULTS = (
    last_version_is_trusted,
    digests_are_not_compared,
    evictions_explain_everything,
    gaps_are_ignored,
    files_are_ordered_by_the_clock,
    lost_entries_are_not_uploaded_again,
)


def label_after_the_clock_was_set_back(machine):
    machine.begin(pages=3)
    machine.set_clock_back(86_400.0)
    machine.label(0, 1)
    machine.upload(0)
    machine.gather()


KNOWN_HISTORIES = (label_after_the_clock_was_set_back,)
"""Histories that random ones may miss."""


def find_fault(histories):
    """Run the known histories, and then random ones, which are the same until the machine changes."""
    for history in KNOWN_HISTORIES:
        machine = CollectionMachine()
        try:
            history(machine)
        finally:
            machine.teardown()
    try:
        run_state_machine_as_test(
            CollectionMachine,
            settings=settings(
                max_examples=histories,
                stateful_step_count=STEPS,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    except ExceptionGroup as found:  # of a step and of the end of its history
        raise found.exceptions[0] from found


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found(fault, monkeypatch):
    fault(monkeypatch)
    with pytest.raises((AssertionError, ThresherError)):
        find_fault(MAX_HISTORIES)


def test_without_a_planted_fault_nothing_is_found():
    find_fault(MAX_HISTORIES)
