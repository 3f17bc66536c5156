"""The shared collection: all pages of a crawl on object storage, so that a lost disk loses no pages for good.

Each machine keeps the page store that it writes. What is new in it is uploaded every few seconds; every machine can
download what the others uploaded, and then all commands read all pages. `manifest` describes the objects, `streams`
what is uploaded, `uploader` when, `replica` how other machines read it, and `audit` how it is checked and repaired.

When a page is uploaded. A page is stored on the disk of its worker first, then its URL is settled in the frontier. It
is *uploaded* when the manifest has an entry with its row. A disk that is lost between the two loses rows whose URLs
are done in the frontier. Of a crawl on a shared store these URLs are listed there until they are uploaded
(`coordination.pending_uploads`), and ``thresher verify --repair`` queues those of lost machines again: they are
fetched a second time.

What a lost disk loses: the rows of the last `uploader.SEGMENT_SECONDS`, and of the time that the object storage did not
answer. Judgements that changed after the last upload of their page are lost too.
"""
