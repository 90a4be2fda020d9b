# What there is to do here. `make` alone lists it.

# The examples of targets are in testdata, which ./... leaves out. What mostly waits for other programs begins first, beside what
# computes.
PACKAGES    := ./cmd/lockproof/cli ./adapters/engine/gated ./... ./testdata/targets/golang/... ./testdata/targets/protocol
CONCURRENT  := ./cmd/lockproof/campaign/... ./adapters/foreign/... ./adapters/inprocess ./adapters/subprocess/... ./adapters/stress ./adapters/amqp/wire
FUZZTIME    ?= 30s
SPINFLAGS   ?=
FIGURES     ?=
MUTATE      ?= ./model/judge
GREMLINS    ?= github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOCYCLO     ?= github.com/fzipp/gocyclo/cmd/gocyclo@v0.6.0
# The packages whose functions are at most 15 complex, by McCabe's measure. Elsewhere the bound is what there is still, and falls.
SIMPLE      := adapters/foreign adapters/orders adapters/inprocess adapters/engine/gated model/beliefs model/judge

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

prove: ## prove the reference semaphore on the simulated broker
	go run ./cmd/lockproof prove

explorer: ## build the explorer for browsers into lockproof, as releases have it
	go run ./cmd/lockproof/explorer/program/embed

site: ## build the documentation as a site into the folder site
	.github/site/build site

mutants: ## show that the prover finds the bug in every mutant
	go run ./cmd/lockproof mutants

# Tests of other programs mostly wait for them: three packages at a time keep two cores at work.
test: ## run all tests, on a real RabbitMQ too if there is one
	go test -timeout 40m -p 3 $(PACKAGES)

pins: ## hold verdicts, counts and counterexamples against those that are kept, as fits while code is moved
	go test -timeout 40m -run 'TestPins|TestAtlas|TestCounterexamples$$|TestSmallConfigurations|TestVerdicts|TestFindings|TestPinned$$' ./adapters/engine/... ./model/amqp/mutant ./model/beliefs ./model/linear ./model/monitor ./sim/search/...
	go test ./histories/... ./sim ./sim/shrink ./model/lock ./model/amqp/amqplock

consul: ## have Consul's official client use the simulated Consul, and an agent if CONSUL_HTTP_ADDR names one
	LOCKPROOF_CONSUL_CLIENT=1 go test -count 1 -v -run TestOfficialClient ./adapters/consul

race: ## run the short tests of what runs at the same time with the race detector
	go test -timeout 40m -race -short -p 3 $(CONCURRENT)
	go test -timeout 40m -race -short -run 'Prove|Until|Interrupted|EndsBetween|RightMutexes|StressReconnects' ./adapters/engine ./adapters/engine/sample ./adapters/engine/explore ./adapters/engine/gated ./adapters/engine/recorded
	go test -timeout 40m -race -short -run 'Worker|Interrupt|Checkpoint|Resum|Walk' ./sim/search/...

lint: ## check the form of the code
	@unformatted=$$(gofmt -l .) && if [ -n "$$unformatted" ]; then echo "not gofmt'ed:" $$unformatted; exit 1; fi
	go vet $(PACKAGES)
	go run $(STATICCHECK) $(PACKAGES)
	go run $(GOCYCLO) -over 15 $(SIMPLE)
	go run $(GOCYCLO) -over 31 -ignore '_test\.go|testdata|_gen\.go' .
	GOOS=js GOARCH=wasm go build -trimpath ./model/... ./sim/... ./histories/... ./cmd/lockproof/explorer/wasm

reproducible: ## build the programs twice, in two places, and compare them byte for byte
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && for place in one two; do \
		mkdir -p "$$dir/$$place/src" && git archive HEAD | tar -x -C "$$dir/$$place/src" && \
		(cd "$$dir/$$place/src" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o ../ ./cmd/lockproof ./cmd/lockproof-campaign ./cmd/lockproof-servers) || exit 1; \
	done && for program in lockproof lockproof-campaign lockproof-servers; do \
		cmp "$$dir/one/$$program" "$$dir/two/$$program" && sha256sum "$$dir/one/$$program" | sed "s|  .*|  $$program|" || exit 1; \
	done

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

figures: ## measure the figures of the page internal/figures/README.md, and write it (FIGURES=-long: at greater length)
	go test -count 1 -run '^TestFigures$$' -v -timeout 3h ./internal/figures -measure $(FIGURES)

compare: ## run the main benchmarks of commit BASE and of this tree in turn, and compare them
	.ci/compare $(BASE)

bench-spin: ## compare the exhaustive search with Spin, side by side (SPINFLAGS=-spin-long: at greater length)
	go test -count 1 -run '^TestSpin$$' -v -timeout 1h ./sim/search -spin $(SPINFLAGS)

mutate: ## inject bugs into the package MUTATE, one at a time, and list those that its tests do not notice
	go run $(GREMLINS) unleash --workers 1 --output-statuses lct $(MUTATE)

# An input that is new is not made smaller first: that took most of the time.
fuzz: ## fuzz every parser for FUZZTIME each
	@listed=$$(go test -list '^Fuzz' ./...) || { echo "$$listed"; exit 1; }; \
	echo "$$listed" | awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { while (n) print $$2, names[n--] }' | \
	while read -r package name; do \
		echo "$$package $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$$package" </dev/null || exit 1; \
	done

.PHONY: help prove explorer site mutants test pins race lint reproducible bench figures compare bench-spin mutate fuzz
