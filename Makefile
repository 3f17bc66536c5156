# The same words on a laptop and in CI. PYTHON may point into any environment that has `.[dev]`.
PYTHON ?= python

.PHONY: check ci nightly deployment-test coverage format lint types native docs bench measurements faults dist sbom audit versions release

check: lint types               ## everything a commit must pass
	$(PYTHON) -m tests.levels check

ci: lint types                  ## everything a push must pass: also stores, faults, the wheel and folders of earlier versions
	$(PYTHON) -m tests.levels ci

nightly: lint types             ## all tests
	$(PYTHON) -m tests.levels nightly

deployment-test:                ## build the image, run Compose and Kubernetes' objects in podman, and kill their parts; needs root
	$(PYTHON) -m pytest -s -rs tests/deployment

# Tests of how long something takes fail while every line is counted.
UNTIMED = not takes_long and not opens_at_once
coverage:                       ## lines that the unit and contract tests run; the files that miss most come first
	$(PYTHON) -m pytest -n 2 --dist loadfile --level check -k "$(UNTIMED)" --cov --cov-report= tests/unit tests/contract
	$(PYTHON) -m coverage report

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:
	$(PYTHON) -m mypy

format:                         ## let ruff write what it would ask for
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

native:                         ## compile the optional loops in place; needs a C compiler
	$(PYTHON) hatch_build.py

docs:                           ## write the generated pages anew and build the site into site/, without a network
	$(PYTHON) -m tests.docs.generate
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

bench:                          ## slow measurements: frontier cycles, pages per second, the lab (needs THRESHER_WEBS)
	$(PYTHON) -m bench.stores.sqlite
	$(PYTHON) -m bench.stores.store --again
	$(PYTHON) -m bench.speed.speed
	$(PYTHON) -m bench.speed.stages --waiting 1000 1000000
	@if [ -n "$$THRESHER_WEBS" ]; then $(PYTHON) -m bench.effectiveness.parity && $(PYTHON) -m bench.speed.lab && $(PYTHON) -m bench.speed.page_rows; fi

measurements:                   ## which measured rows are older than the judge or the strategy that they depend on
	$(PYTHON) -m bench.measurements

faults:                         ## the full fault matrix; writes docs/reference/faults.md
	$(PYTHON) -m tests.faults.full

dist:                           ## source archive and the wheel for all platforms into dist/, without a network; the same bytes for everybody
	rm -rf dist
	THRESHER_NATIVE=0 $(PYTHON) -m hatchling build -d dist
	cd dist && sha256sum thresher_crawler-* | tee SHA256SUMS && ls -l thresher_crawler-*

sbom: dist                      ## the parts list of what the wheel installs, in CycloneDX's JSON, into dist/
	$(PYTHON) -m tests.release.sbom dist
	cd dist && sha256sum thresher_crawler-* > SHA256SUMS

audit:                          ## known weaknesses of what is installed; says so where the service cannot be asked
	$(PYTHON) -m tests.release.audit

versions:                       ## the unit tests on every promised Python that is on PATH, each in its own environment
	$(PYTHON) -m tests.release.versions

release: nightly versions sbom audit  ## everything a release must pass; what is given to others lies in dist/ afterwards
