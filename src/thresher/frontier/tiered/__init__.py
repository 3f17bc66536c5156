"""A shared frontier in two tiers: the better waiting URLs in the store, the others in a cold storage.

Most URLs that a large crawl finds are never fetched. So every host keeps its best waiting URLs in the store (*hot*),
and its worse ones go to a cold storage (*cold*): object storage that all workers reach, in a bucket or a folder.
Nothing becomes cold before a crawl has `hot_urls` waiting URLs, so a small crawl is a plain one; nor before it has 12
for each host that it knows, which hosts keep in any case.

**Allowance.** A host may have `max(24, hot_urls ÷ hosts)` hot URLs. A host above it is *over its quota*, and is listed.
When there are too many hot URLs, as many of the best as half the allowance stay hot, and the others are spilled. A load
brings at most as many, so what was just loaded is not spilled unless better URLs are hot.

**Runs.** Hosts belong to one of 256 partitions of their shard, by a hash. A spill takes the hosts of one partition
that are over their quota, and writes one run: a Parquet file sorted by host, score and age, compressed with zstd. Runs
are merged so that each has at least four times the URLs of all later ones: copies of a URL become one, and those that
were loaded are left out.
When all runs are merged, the worst URLs of a host beyond `waiting_per_host` are evicted. The store keeps the list of
runs and a Bloom filter of each: 12 bits per URL.

**Order.** The store knows `best_cold` of each host with cold URLs: the rank of the best of them, or an upper bound.
Hosts are ordered by their best URL, hot or cold. A lease that skips a host whose best URL may be cold
loads the best cold URLs of that host, and of others that need it, and goes on. So these promises hold:

1. No URL of a host is leased while a better one of that host is cold. Without exception.
2. No URL of another host is leased while a better one is cold on a ready host, unless another worker is moving URLs of
   this shard at that moment, or was a tenth of a second ago, or the cold storage fails; then that host is passed over
   until its URLs are loaded.
3. No host with cold URLs and without hot ones is taken for empty: it is ready, and counted.

**Moving ends.** A load makes the best URL of a host hot, and lowers `best_cold` below all that it loaded. A spill keeps
the best hot URLs, and raises it no further than the best that it spilled. A merge leaves out all URLs that rank before
it. So no host needs a load because of a spill or a merge, and the two cannot undo each other for ever.

**Found again.** A link that is neither hot, leased nor settled is looked up in the filters. If it is cold and its score
is above the *floor* of its host (that of its cold URL number 4 × allowance), it becomes hot as well. The two copies are
merged by the crawl's `Merge` when the cold one is read, unless it was loaded before; until then only the newer one
counts, also its `depth_left` and `hops`, and a new score changes only that one. With `Merge.MAX` it is leased with the
greatest of its scores, and in the turn of that score; among equal scores it may be taken for younger than it is. Its
tries count on: the store keeps those of cold URLs that were tried before. Below the floor, and with `Merge.FIRST`, it
stays as it is.

**New scores.** A new score (`rescore`) of a cold URL is kept in the store until the URL is read; one above
`best_cold` raises it. Several are applied in their order, each under its own condition, and not to copies that were
found later. Any other moves it by the least step: a migrator that read the scores before then changes nothing, and
reads again.

URLs that are not found again while they are cold are leased as by a plain frontier, within the promises above.

**Error.** A Bloom filter takes a new URL for a cold one with a probability of 0.4 % per run of the partition, so
0.4 to 2 %. Such a URL is not queued if its score is not above the floor of its host, or with `Merge.FIRST`; it gets
another chance when it is found again after a merge of runs. Above the floor it is queued like any other: so a host with
fewer URLs than 5 × allowance loses none. `counts` may be off by the URLs that were found again.

**Crashes.** Every step may be repeated, and a copy too many does no harm: whether a URL was leased or settled is known
exactly, and decides when a run is read.

    spill   write the object; list its run and filter (one script); remove its URLs where their records are still those
            that were written, in small scripts
    load    add URLs, set best_cold (one script per host); they stay in their runs, above it, until these are merged
    merge   write the object; replace the list of runs and the filters (one script); correct what is known of the hosts

A run that was replaced is deleted an hour later: a store that crashed and lost its last writes may list it again. An
object that was written and never listed is deleted in the same way.

**Damage.** An object begins with a checksum of its name and content, and its name has the id of the crawl, so that two
stores with crawls of one name may share a cold storage. A run that is missing or damaged is taken off its list together
with its filter, the hosts of its partition are counted again, and the store notes how many URLs were lost. Its object
is kept for inspection. The lost URLs are new when they are found again: `thresher verify --repair` queues those that
stored pages link to, or whose object can be read again. Runs of version 0.2.0 have neither checksum nor id. They are
read until they are merged, and deleted only where this store had listed them.

**One migrator.** A lock in the store lets one worker at a time move URLs of a shard. It takes a number, greater than
all before; every script that moves URLs refuses an older one. So a migrator that was stopped for longer than its lock
changes nothing when it wakes.
"""
