"""Options of a run replace settings, as far as they are set."""

from thresher.config.run_options import RunOptions


def test_the_stricter_source_wins_where_it_says_something():
    flags, joined = RunOptions(strategy="shark", refresh=True), RunOptions(strategy="fish", name="solar")
    assert flags.over(joined) == RunOptions(strategy="shark", name="solar", refresh=True)


def test_what_is_stored_is_read_again_without_the_refresh():
    options = RunOptions(store="redis://h/0", name="solar", refresh=True)
    assert options.stored() == {"store": "redis://h/0", "name": "solar"}
    assert RunOptions.of({**options.stored(), "new": "key"}) == RunOptions(store="redis://h/0", name="solar")
