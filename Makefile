# The ways into the project. Ninja does the work in parallel, so the targets here run one after another.
.NOTPARALLEL:
.DEFAULT_GOAL := build
.PHONY: build demo cassandra test test-servers test-cassandra test-cassandra-faults check tidy fuzz property faults bench experiment man format clean help setup

JOBS := $(shell nproc)
FUZZ_SECONDS ?= 30
CASES ?= 20000
SEED ?= $(shell date +%s)
STORE ?= memory
property_memory := Whatever
property_rocksdb := InAFolder
property_blocks := OneBlockAtATime
KILL_ROUNDS ?= 10000
PROGRAM_KILLS ?= 300
KILL_VISITS ?= 1000
POWER_ROUNDS ?= 2000
IO_STEP ?= 1
CORRUPT_PLACES ?= 1000
SOAK_SECONDS ?= 600
cassandra_tests := noam_cql_server_test noam_cassandra_test noam_contract_test

build: build/release/build.ninja   ## The program, as build/noam (the default)
	cmake --build --preset release -j $(JOBS) --target noam
	install -C build/release/noam build/noam

demo: build                        ## What noam does, in a minute
	tools/demo

cassandra: build                   ## The microblog on a node of Cassandra, left running, and how to reach it
	tools/cassandra

test: build                        ## All tests
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(JOBS)

test-servers: build                ## What noam generates, and its driver, on real databases, which are fetched and started for it; SERVERS="redis" runs some
	cmake --build --preset release -j $(JOBS) --target $(cassandra_tests)
	tests/servers/run $(SERVERS)

test-cassandra: build              ## The part of test-servers for Cassandra: noam, its driver and its store, for some minutes
	cmake --build --preset release -j $(JOBS) --target $(cassandra_tests)
	tests/servers/run cassandra

test-cassandra-faults: build       ## Three nodes of Cassandra that are killed, cut off and paused, with eight clients; about 8 minutes
	cmake --build --preset release -j $(JOBS) --target noam_cassandra_test
	tests/servers/cassandra_faults

check: setup                       ## Format, clang-tidy on what changed, headers alone, include directions, scripts
	tools/check

tidy: setup                        ## clang-tidy on all sources; `make check` looks at those that changed lately
	tools/check tidy

fuzz: setup                        ## Every fuzz program, FUZZ_SECONDS each
	tools/fuzz $(FUZZ_SECONDS)

property: build                    ## CASES random programs (20000) against the reference evaluator, on STORE (memory, rocksdb, blocks)
	cmake --build --preset release -j $(JOBS) --target noam_property_test
	@echo "first seed: $(SEED)"
	NOAM_PROPERTY_SEED=$(SEED) NOAM_PROPERTY_CASES=$(CASES) ctest --preset release -j $(JOBS) -R 'Shards/Property.*$(property_$(STORE))'

faults: build                      ## Kills, lost power, failing calls, wrong bytes, and a long soak of the embedded store
	cmake --build --preset release -j $(JOBS) --target noam_faults_test
	NOAM_KILL_ROUNDS=$(KILL_ROUNDS) NOAM_PROGRAM_KILLS=$(PROGRAM_KILLS) NOAM_KILL_VISITS=$(KILL_VISITS) \
	  NOAM_POWER_ROUNDS=$(POWER_ROUNDS) NOAM_IO_STEP=$(IO_STEP) NOAM_CORRUPT_PLACES=$(CORRUPT_PLACES) \
	  NOAM_SOAK_SECONDS=$(SOAK_SECONDS) build/release/tests/noam_faults_test

bench: build                       ## The benchmarks; BENCH="game load" runs some of them, BENCH=--quick a little of all
	cmake --build --preset release -j $(JOBS) --target noam_bench
	bench/run $(BENCH)

experiment: build                  ## The experiment of the paper, and the tables and plots of docs/experiment.md
	cmake --build --preset release -j $(JOBS) --target noam_bench
	mkdir -p build/bench
	build/release/bench/noam_bench experiment --json build/bench/experiment.json
	bench/experiment.py build/bench/experiment.json docs

man:                               ## The manual pages, as build/man/noam.1 and one for each command
	tools/make_man build/man

format: setup                      ## Rewrites the C++ files as .clang-format asks
	git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp' | xargs -0 clang-format-14 -i

clean:                             ## Removes build/
	rm -rf build

help:                              ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup:
	@tools/setup

build/release/build.ninja: CMakePresets.json | setup
	cmake --preset release
