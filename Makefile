# The front door. `make demo` and `make test` do all the set-up that is missing.
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: deps build demo test bench format tidy asan clean

deps:
	@.ci/setup

build: deps
	@.ci/configure cpu
	cmake --build $(BUILD) -j $(JOBS)

demo: build
	@.ci/demo $(BUILD)

test: build
	@.ci/check-format
	ctest --preset cpu -j $(JOBS)
	@$(MAKE) --no-print-directory asan

asan: deps
	@.ci/configure asan
	cmake --build build-asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

bench: build
	cmake --build $(BUILD) -j $(JOBS) --target benchmarks
	@.ci/bench $(BUILD)

format:
	git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

tidy: build
	@.ci/check-tidy

clean:
	rm -rf build build-asan build-gpu
