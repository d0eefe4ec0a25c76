# The front door. `make demo` and `make test` do all the set-up that is missing.
BUILD ?= build
export JOBS ?= $(shell nproc)

.PHONY: deps build demo test bench format tidy asan clean

deps:
	@.ci/setup

build: deps
	@.ci/configure cpu
	@.ci/build $(BUILD)

demo:
	@echo "demo: 1 of 3: set-up"
	@.ci/setup
	@echo "demo: 2 of 3: building the four programs"
	@.ci/configure demo
	@.ci/build $(BUILD) programs
	@echo "demo: 3 of 3: train, prune, quantize, export, run (about 5 minutes on 2 cores)"
	@.ci/demo $(BUILD)

test:
	@echo "test: 1 of 5: set-up"
	@.ci/setup
	@.ci/check-format
	@echo "test: 2 of 5: building programs and tests"
	@.ci/configure cpu
	@.ci/build $(BUILD)
	@echo "test: 3 of 5: testing"
	ctest --preset cpu -j $(JOBS)
	@$(MAKE) --no-print-directory asan

asan: deps
	@echo "test: 4 of 5: building for AddressSanitizer and UBSan, without LibTorch"
	@.ci/configure asan
	@.ci/build build-asan
	@echo "test: 5 of 5: testing under AddressSanitizer and UBSan"
	ctest --preset asan -j $(JOBS)

bench: build
	@.ci/build $(BUILD) benchmarks
	@.ci/bench $(BUILD)

format:
	git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

tidy: build
	@.ci/check-tidy

clean:
	rm -rf build build-asan build-gpu
