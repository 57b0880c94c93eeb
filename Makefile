# SPDX-License-Identifier: Apache-2.0
# Verbs for people. CMake does the work: each is short enough to type by hand.

PREFIX ?= /usr/local
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help deps build demo tests try check test test-all lint asan \
    asan-short tsan tsan-short fuzz bench bench-peers conformance-served \
    interop interop-serve interop-programs redis-suite model test-web docs \
    test-site test-bindings test-cpp test-python test-go test-rust install package \
    uninstall format

help: ## show this list
	@sed -n 's/^\([a-z-]*\): [^#]*## /\1|/p' $(MAKEFILE_LIST) | \
	    awk -F'|' '{ printf "make %-18s %s\n", $$1, $$2 }'

deps: ## install missing Debian packages (asks for sudo)
	@tools/deps.sh build test

build: ## build the library and the command into build/, no tests
	@tools/deps.sh build
	@cmake --preset release -DHF_TESTS=OFF \
	    -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build --preset release

demo: build ## build, then show what the command does
	@tools/demo.sh

tests: deps
	@cmake --preset release >/dev/null
	@cmake --build --preset release

check: deps ## run the unit and the embedded tests: while you work
	@cmake --preset release >/dev/null
	@cmake --build --preset check
	@ctest --preset check

try: deps ## run the tests closest to what has changed (FILES="a b": these)
	@grep -qs '^HF_TESTS:.*=ON' build/CMakeCache.txt || \
	    cmake --preset release >/dev/null
	@python3 -B tools/try.py build $(FILES)

# In the order of the tests' files, not of the last run's times: that keeps the
# processors busy.
test: tests ## build, then run every claim on the stores that it needs
	@rm -f build/Testing/Temporary/CTestCostData.txt
	@ctest --preset release

test-all: tests ## build, then run every claim on every store
	@ctest --preset all

lint: ## check format, limits, layers, header, scripts
	@tools/deps.sh lint
	@tools/lint.sh

asan: deps ## run every test under AddressSanitizer and UBSan
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan
	@ctest --preset asan

tsan: deps ## run every test under ThreadSanitizer
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan
	@ctest --preset tsan

asan-short tsan-short: deps
	@cmake --preset $(@:-short=) >/dev/null
	@cmake --build --preset $@
	@ctest --preset $@

fuzz: deps ## run each fuzzer for a minute (SECONDS=600: longer)
	@tools/deps.sh fuzz
	@cmake --preset fuzz -DHF_FUZZ_SECONDS=$(or $(SECONDS),60) >/dev/null
	@cmake --build --preset fuzz

interop: deps ## run with other lock libraries (those that it can install)
	@tools/interop.sh

redis-suite: deps ## run Redis's own tests against `holdfast serve`
	@tools/deps.sh suite
	@tools/redis_suite.sh

conformance-served: tests ## run the conformance tests on `holdfast serve`
	@ctest --preset release -C served -R '^conformance.*served'

interop-serve: deps ## run client libraries on `holdfast serve` and on Redis
	@tools/interop.sh --serve

interop-programs: deps ## run RQ, BullMQ and others on `holdfast serve` and on Redis
	@tools/interop.sh --programs

test-web: build ## test serve against pages in Chromium (PICTURES=folder)
	@tools/deps.sh web
	@python3 -B tests/serve/attack_check.py build/holdfast
	@python3 -B tests/serve/page_check.py build/holdfast $(PICTURES)

docs: ## build the site into build/site (needs the package index of Python)
	@tools/deps.sh docs
	@tools/docs.sh

test-site: docs ## look at the site in Chromium (PICTURES=folder)
	@tools/deps.sh web
	@python3 -B tests/docs/site_check.py build/site $(PICTURES)

test-bindings: deps ## test C++, Python, Go and Rust, whose tools are there
	@tools/bindings.sh

test-cpp test-python test-go test-rust: deps
	@tools/bindings.sh $(@:test-%=%)

model: ## check the model of the locks (docs/model, two minutes)
	@tools/deps.sh model
	@python3 -B docs/model/check.py

bench: tests ## build, then run the benchmarks
	@for bench in build/bench/bench_*; do $$bench || exit 1; done

bench-peers: ## next to other libraries and stores (80 minutes)
	@tools/deps.sh build test peers
	@$(MAKE) tests
	@tools/peers.sh build/peers
	@python3 -B bench/peers/bench_peers.py --peers build/peers \
	    --pictures build/peers/pictures build/bench
	@build/bench/bench_contended --runs 3 --peers build/peers

install: build ## install below PREFIX (default /usr/local), honours DESTDIR
	@cmake --install build
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

package: ## build the Debian packages of this commit into build-debian/
	@tools/package_debian.sh

uninstall: ## remove what `make install` from this folder installed
	@tools/uninstall.sh build/install_manifest.txt

format: ## rewrite C files in our format
	@tools/deps.sh lint
	@tools/lint/format.sh --fix
