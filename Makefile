# The commands of the project; each first installs what is missing (Scripts/setup).

SWIFT ?= swift
WORK ?= demo-work
SECONDS ?= 60
export SWIFT
# SwiftPM passes the traits to the compiler in the order of a set. Without this the order changes from one
# call to the next, and then everything is compiled again.
export SWIFT_DETERMINISTIC_HASHING := 1

.DEFAULT_GOAL := help
.PHONY: help package setup demo rchat todo test test-long test-drivers check docs bench bench-gate bench-server bench-sync bench-matrix \
	bench-remote bench-wire bench-files bench-fairness bench-devices bench-gateway bench-embedding fuzz simulate simulate-files simulate-wrong simulate-scope crash crash-sync attack gaps sweep faults law contend soak soak-sync \
	fanout test-console test-encrypted test-fresh-root test-asan test-tsan clean

help: ## Lists the commands.
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "make %-14s %s\n", $$1, $$2 }'

setup: ## Installs the system libraries that are missing.
	@Scripts/setup

demo: ## Puts two devices and a remote in step. INPUT=documents.jsonl WORK=folder REMOTE=server|gateway
	@Scripts/setup $(if $(filter gateway,$(REMOTE)),mongoc)
	@Scripts/demo "$(WORK)" "$(INPUT)" "$(or $(REMOTE),file)"

rchat: ## Starts a terminal chat of two users over a server with rules. SCRIPT=file
	@Scripts/setup
	@Examples/RChat/run $(if $(SCRIPT),--script "$(SCRIPT)")

test: ## Builds an app that embeds the library, and runs all tests, also of the console in a browser.
	@Scripts/setup
	@Scripts/test-embedding
	@Scripts/test-console
	@Scripts/test

test-long: ## Runs what takes longer: examples twice, Go's driver, twin sessions. TWIN_SESSIONS=2000
	@Scripts/setup mongoc
	@Scripts/examples-twice
	@Scripts/test-go
	@TWIN_SESSIONS="$(or $(TWIN_SESSIONS),2000)" Scripts/test RulesTests.twins

test-drivers: ## Runs the tests that MongoDB's drivers and mappers for Python publish. SUITES="umongo motor"
	@Scripts/setup
	@Scripts/test-drivers $(SUITES)

package: ## Makes an archive and a Debian package of the tool in .build/package/out.
	@Scripts/setup
	@Scripts/package $(TOOL)

docs: ## Makes the DocC archives of the libraries in .build/docs; a dead link fails.
	@Scripts/docs

todo: ## A to-do list at the terminal that syncs with a server. FILE=phone.stitch
	@Examples/Todo/run "$(or $(FILE),phone.stitch)"

check: ## Checks the form only: format lint, patches of wrong engines, tidy tests, types of Apple's code.
	@Scripts/setup
	@Scripts/check-format
	@Scripts/simulate-wrong check
	@Scripts/test TidyTests
	@Scripts/check-apple

bench: ## Measures, each row beside its baseline in the same run; the sync passes as well.
	@Scripts/setup mongoc
	@Scripts/bench
	@Scripts/bench-sync 1024 25000
	@$(MAKE) --no-print-directory bench-matrix

bench-gate: ## Measures and fails where a ratio falls below its gate.
	@Scripts/setup
	@Scripts/bench --gate
	@Scripts/bench-sync --gate

bench-embedding: ## Builds an app that embeds the library beside one that embeds GRDB: time and size.
	@Scripts/setup
	@Scripts/bench-embedding

bench-sync: ## Measures sync passes beside C. Scripts/bench-sync SIZE COUNT ROUNDS
	@Scripts/setup
	@Scripts/bench-sync

bench-server: ## Measures the server through libmongoc on loopback; part of bench.
	@Scripts/setup mongoc
	@Scripts/bench-server

bench-remote: ## Measures sync through MongoRemote with a server in another process.
	@Scripts/setup mongoc
	@Scripts/bench-remote

bench-wire: ## Measures the ways between devices and a server, with durable files. ARGS="n=10000 rows=one"
	@Scripts/setup
	@Scripts/bench-wire $(ARGS)

bench-files: ## Carries a large file over a connection that is cut often; gates. SIZE=1GiB CUTS=100 RATE=25
	@Scripts/setup
	@Scripts/bench-files size="$(or $(SIZE),1GiB)" cuts="$(or $(CUTS),100)" rate="$(or $(RATE),25)"

bench-gateway: ## Measures a gateway under rules beside its upstream.
	@Scripts/setup mongoc
	@Scripts/bench-gateway

bench-fairness: ## Measures how long a user waits while another one asks for much. REQUESTS=200
	@Scripts/setup mongoc
	@Scripts/bench-fairness "$(or $(REQUESTS),200)"

bench-devices: ## Measures a process with many devices: threads, memory, time to all. DEVICES=100
	@Scripts/setup
	@Scripts/bench-devices devices="$(or $(DEVICES),100)"

bench-matrix: ## Sync passes up, down and both with 0, 50 and 200 ms latency. COUNT=5000
	@Scripts/setup
	@$(SWIFT) build -c release --package-path Benchmarks --product SyncBenchmarks >&2
	@Benchmarks/.build/release/SyncBenchmarks matrix=0,50,200 n="$(or $(COUNT),5000)"

fuzz: ## Fuzzes a target under address sanitizer. TARGET=name SECONDS=60
	@Scripts/setup
	@Scripts/fuzz "$(TARGET)" "$(SECONDS)"

simulate: ## Simulates whole worlds of clients, faults and kills. SEEDS=2000 FROM=1, or SEED=7
	@Scripts/setup
	@Scripts/simulate $(if $(SEED),seed=$(SEED),seeds=$(or $(SEEDS),2000) from=$(or $(FROM),1))

simulate-files: ## Simulates worlds with files beside documents. SEEDS=2000 FROM=1
	@Scripts/setup
	@Scripts/simulate files=$(or $(SEEDS),2000) from=$(or $(FROM),1)

simulate-wrong: ## Shows that the simulation passes the engine and catches wrong ones. SEEDS=2000
	@Scripts/setup
	@Scripts/simulate-wrong $(or $(SEEDS),2000)

attack: ## Damages files, asks for much, lies to devices, floods. MUTATIONS=5000 …, or SEED=7 OF=remotes
	@Scripts/setup
	@Scripts/attack $(if $(SEED),seed=$(SEED) of=$(or $(OF),mutations),mutations=$(or $(MUTATIONS),5000) \
		requests=$(or $(REQUESTS),2000) remotes=$(or $(REMOTES),4000) floods=$(or $(FLOODS),60) \
		from=$(or $(FROM),1))

gaps: ## Fails where work of a server asks its budget too rarely to be ended, without a reason. REQUESTS=2000
	@Scripts/setup
	@Scripts/gaps "$(or $(REQUESTS),2000)"

sweep: ## Takes every road of a user at n to 8n; the cost must not outgrow n log n. ROAD=text
	@Scripts/setup
	@Scripts/sweep $(if $(ROAD),"road=$(ROAD)")

simulate-scope: ## Runs every short schedule of the sync engine with every fault. DEPTH=3
	@Scripts/setup
	@Scripts/simulate scope="$(or $(DEPTH),3)" faults="$(or $(FAULTS),1)" interrupts="$(or $(INTERRUPTS),1)"

crash-sync: ## Kills a syncing process at random instants and checks its ledger. KILLS=200
	@KILLS="$(or $(KILLS),200)" Scripts/test SyncCrashTests

crash: ## Kills a writing process at random instants and checks the file each time. KILLS=200
	@KILLS="$(or $(KILLS),200)" Scripts/test CrashTests

law: ## Looks whether typed writes change exactly what an app changed. PAIRS=100000 FROM=0
	@Scripts/setup
	@Scripts/law "$(or $(PAIRS),100000)" "$(or $(FROM),0)"

faults: ## Lets every n-th write, sync and allocation of the store fail, one after the other.
	@Scripts/setup
	@Scripts/faults

contend: ## Lets four processes write one file and compares what each of them saw. SECONDS=30
	@Scripts/setup
	@CONTEND_SECONDS="$(if $(filter command environment,$(origin SECONDS)),$(SECONDS),30)" Scripts/test ContentionTests

soak: ## Mixed load of 50 connections on a server that is killed every minute. MINUTES=10
	@Scripts/setup
	@Scripts/soak "$(or $(MINUTES),10)"

soak-sync: ## Lets devices sync over connections that are cut, with servers that are killed. MINUTES=10
	@SOAK_MINUTES="$(or $(MINUTES),10)" Scripts/test SyncSoakTests

fanout: ## Lets devices follow streams at two gateways, kills one. DEVICES=2000 RATE=200 SECONDS=60
	@Scripts/setup mongoc
	@Scripts/fanout "$(or $(DEVICES),2000)" "$(or $(RATE),200)" "$(SECONDS)"

test-console: ## Clicks through the console of a server and of a gateway in headless Chromium. SCREENSHOTS=1
	@Scripts/setup
	@Scripts/test-console $(if $(SCREENSHOTS),--screenshots)

test-encrypted: ## Runs the tests of stores and files with SQLCipher in place of SQLite. FILTER=text
	@Scripts/setup
	@Scripts/test-encrypted $(if $(FILTER),"$(FILTER)")

test-fresh-root: ## Follows the tutorial in a new Debian 12, and builds the smallest apps there; as root.
	@Scripts/setup
	@Scripts/test-fresh-root

test-asan: ## Runs the tests under address sanitizer, in a build of its own. FILTER=text
	@Scripts/setup
	@Scripts/test-sanitized address "$(FILTER)"

test-tsan: ## Runs the tests under thread sanitizer, in a build of its own. FILTER=text
	@Scripts/setup
	@Scripts/test-sanitized thread "$(FILTER)"

clean: ## Removes everything that was built and the demo's files.
	@rm -rf .build .build-* Benchmarks/.build* Fuzz/.build* demo-work
