"""Random histories of crawl folders and the collection that they share.

Folders fetch, upload, are backed up, restored and copied; objects, rows and URLs are taken away or damaged; operations
are cut off; the wall clock is set back. Whatever happened, a `verify` without a finding is a promise: nothing is lost
here, and the collection has every page of this folder. And `verify --repair`, an upload and a run end every history
with all pages of the site.
"""

import shutil
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.contract.crawl_folders import EXISTING, SEED, CutOff, Folder, World, labels_in, reachable, text_of
from thresher.errors import StoreUnreachable, ThresherError
from thresher.frontier.base import UrlState
from thresher.verify.findings import FindingState

picks = st.integers(0, 1_000)
damages = st.sampled_from(["delete", "truncate", "empty", "zero"])
OPEN = (UrlState.WAITING, UrlState.LEASED)
MAX_KILLS = 3
"""A URL whose worker is lost more often is given up."""


@dataclass
class Tally:
    """What a run of histories did: `clean` counts the verdicts without a finding, all of which were checked."""

    histories: int = 0
    steps: int = 0
    clean: int = 0

    def __add__(self, other):
        return Tally(self.histories + other.histories, self.steps + other.steps, self.clean + other.clean)


class CollectionMachine(RuleBasedStateMachine):
    """One or two crawl folders and their collection."""

    def __init__(self, tally=None):
        super().__init__()
        self.tally = tally or Tally()
        self.world = World()
        self.folders = [Folder(self.world, "one")]
        self.backups = {}  # by folder
        self.snapshot = None  # of the collection
        self.kills = 0
        self.is_one_line = True  # no row was ever in two streams, or taken away
        self.was_set_back = False  # the clock
        self.is_defined = False  # whether the files of the collection are complete
        self.labels = b""  # those of the last complete upload; empty when another one may have been begun since
        self.misled = set()  # folders that may believe that files are in the collection which are lost there
        self.was_rolled_back = False  # the collection

    @initialize(pages=st.integers(0, 6), names=picks)
    def begin(self, pages, names=0):
        self.world.names.seed(names)
        if pages:
            self.folders[0].fetch(pages)
            self.folders[0].label(0)
            self.upload_of(self.folders[0])

    @invariant()
    def count(self):
        self.tally.steps += 1

    def folder(self, pick):
        return self.folders[pick % len(self.folders)]

    # What a crawl does

    @rule(pick=picks, pages=st.integers(1, 5))
    def fetch(self, pick, pages):
        self.folder(pick).fetch(pages)

    @precondition(lambda self: self.kills < MAX_KILLS)
    @rule(pick=picks, pages=st.integers(1, 3))
    def fetch_and_be_killed(self, pick, pages):
        self.kills += 1
        self.folder(pick).fetch(pages, killed=True)

    @rule(pick=picks, number=st.integers(0, 5), relevance=st.sampled_from([0.25, 0.75]))
    def revise(self, pick, number, relevance):
        self.folder(pick).revise(number, relevance)

    @rule(pick=picks, number=st.integers(0, 5))
    def label(self, pick, number):
        self.folder(pick).label(number)

    @rule(pick=picks)
    def upload(self, pick):
        self.upload_of(self.folder(pick))

    @rule(pick=picks, after=st.integers(0, 20), with_effect=st.booleans())
    def upload_cut_off(self, pick, after, with_effect):
        self.world.cut = CutOff(after, with_effect)
        self.labels = b""
        try:
            self.folder(pick).upload()
        except StoreUnreachable:
            pass
        finally:
            self.world.cut = None

    # What operators do

    @rule(pick=picks)
    def back_up(self, pick):
        folder = self.folder(pick)
        place = self.world.root / f"backup-{folder.root.name}"
        shutil.rmtree(place, ignore_errors=True)
        self.backups[folder] = folder.copy_to(place)

    @precondition(lambda self: self.backups)
    @rule(pick=picks)
    def restore(self, pick):
        folder = sorted(self.backups, key=lambda each: each.root)[pick % len(self.backups)]
        folder.restore(self.backups[folder])
        self.is_one_line = False
        if self.was_rolled_back:
            self.misled.add(folder)

    @precondition(lambda self: len(self.folders) == 1)
    @rule()
    def copy(self):
        backup = self.folders[0].copy_to(self.world.root / "two")
        self.folders.append(Folder(self.world, "two", backup.added))
        self.is_one_line = False
        if self.misled:
            self.misled.update(self.folders)

    @rule()
    def copy_collection(self):
        self.snapshot = self.world.root / "snapshot"
        shutil.rmtree(self.snapshot, ignore_errors=True)
        shutil.copytree(self.world.collection, self.snapshot)

    @precondition(lambda self: self.snapshot)
    @rule()
    def roll_collection_back(self):
        shutil.rmtree(self.world.collection)
        shutil.copytree(self.snapshot, self.world.collection)
        self.was_rolled_back = True
        self.lose_files()

    @rule(seconds=st.sampled_from([60.0, 86_400.0, 40 * 365 * 86_400.0]))
    def set_clock_back(self, seconds):
        self.world.times.offset -= seconds
        self.was_set_back = True

    # What goes wrong

    @rule(pick=picks, part=st.sampled_from(["segments", "files"]), how=damages)
    def damage_object(self, pick, part, how):
        self.damage(pick, part, how)

    @rule(pick=picks, part=st.sampled_from(["manifest", "manifest", "merged"]), how=damages)
    def damage_entry(self, pick, part, how):
        self.damage(pick, part, how)

    def damage(self, pick, part, how):
        found = sorted(path for path in (self.world.collection / part).rglob("*") if path.is_file())
        if not found:
            return
        path = found[pick % len(found)]
        content = path.read_bytes()
        half = len(content) // 2
        if how == "delete":
            path.unlink()
        else:
            zeroed = content[:half] + bytes(min(8, len(content) - half)) + content[half + 8 :]
            path.write_bytes({"truncate": content[:half], "empty": b"", "zero": zeroed}[how])
        if part == "files" or "files." in str(path):
            self.lose_files()

    def lose_files(self):
        """An upload goes by the manifest, and reads no object again: until a repair, it may leave files out."""
        self.labels, self.is_defined = b"", False
        self.misled.update(self.folders)

    @rule(pick=picks, modulus=st.integers(1, 4))
    def lose_rows(self, pick, modulus):
        self.folder(pick).change("pages/w1.db", "DELETE FROM page WHERE id % ? = 0", modulus)
        self.is_one_line = False

    @rule(pick=picks)
    def lose_segment(self, pick):
        self.folder(pick).lose_segment()
        self.is_one_line = False

    @rule(pick=picks, modulus=st.integers(1, 4))
    def lose_waiting_urls(self, pick, modulus):
        self.folder(pick).change("frontier.db", "DELETE FROM url WHERE state = 0 AND abs(fingerprint) % ? = 0", modulus)

    # What is promised

    @rule(pick=picks)
    def verify(self, pick):
        self.check(self.folder(pick))

    @rule(pick=picks)
    def repair(self, pick):
        self.labels, self.is_defined = b"", True
        self.repair_of(self.folder(pick))

    @rule()
    def gather(self):
        try:
            gathered = self.world.gathered()
        except ThresherError:
            assert not self.is_defined, "one damaged object stops a reader"
        else:
            self.check_contents(gathered)

    def check(self, folder):
        """Verify; if nothing is found, nothing is missing."""
        report = folder.verify()
        if report.is_clean and not report.unchecked:
            self.tally.clean += 1
            self.misled.discard(folder)
            self.check_entries()
            self.check_folder(folder)
            if self.is_defined and not folder.waiting():
                self.check_gathered(folder)

    def check_entries(self):
        """Also those of a folder that lost its rows, and those that no folder has read before."""
        flawed = self.world.flawed_entries()
        assert not flawed, f"verify is clean, and entries of the manifest are missing or damaged: {flawed}"

    def check_folder(self, folder):
        pages, entries = folder.pages(), folder.entries()
        open_urls = {url for url, entry in entries.items() if entry and entry.state in OPEN}
        coming = reachable({SEED, *open_urls} if entries.get(SEED) is None else open_urls)  # a run adds the seed again
        for url, entry in entries.items():
            assert entry is not None or url in coming, f"verify is clean, and the frontier has lost {url}"
            state = entry.state if entry else UrlState.WAITING
            assert state is not UrlState.DONE or url in pages, f"verify is clean, and {url} has no row"
            assert state is not UrlState.FAILED or url not in EXISTING, f"{url} failed without a reason"

    def check_gathered(self, *folders):
        """Gather; every page of the folders is there. Return the pages."""
        gathered = self.world.gathered()
        self.check_contents(gathered)
        for url, page in ((url, page) for folder in folders for url, page in folder.pages().items()):
            assert url in gathered.pages, f"verify is clean, nothing waits, and the collection lacks {url}"
            is_new = gathered.pages[url].fetched_at >= page.fetched_at
            assert is_new or self.was_set_back, f"the collection has an old row of {url}"
            if self.is_one_line:
                assert gathered.pages[url] == page, f"the collection has another row of {url}"
        return gathered.pages

    def check_contents(self, gathered):
        for url, page in gathered.pages.items():
            assert page.text == text_of(url, page.fetched_at), f"the text of {url} is that of another fetch"
        if self.labels:
            assert gathered.labels == self.labels, "the labels are not those of the last upload"

    def teardown(self):
        try:
            self.finish()
            self.tally.histories += 1
        finally:
            self.world.close()

    def finish(self):
        """Repair, upload and run in every folder; then nothing is wrong, and nothing is missing."""
        for folder in self.folders:
            self.repair_of(folder)
            self.upload_of(folder)
            folder.fetch(1_000)
            self.upload_of(folder)
        for folder in self.folders:
            report = folder.verify()
            found = [finding for finding in report.findings if finding.state is not FindingState.NOTE]
            assert report.is_clean, f"after repair, upload and run: {found}"
            assert not report.unchecked, f"after repair, upload and run not checked: {report.unchecked}"
            assert folder.waiting() == 0, f"{folder.waiting()} rows wait after all uploads"
            self.check_entries()
            self.check_folder(folder)
        missing = EXISTING - self.check_gathered(*self.folders).keys()
        assert not missing, f"after repair, upload and run {missing} are not in the collection"

    def upload_of(self, folder):
        assert folder.upload() == 0, "rows wait after an upload"
        if folder in self.misled:
            self.labels = b""
        else:
            self.is_defined = True
            self.labels = labels_in(folder.root) or self.labels

    def repair_of(self, folder):
        folder.verify(repair=True)
        self.misled.discard(folder)
