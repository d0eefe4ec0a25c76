#include "runtime/device/shared_uploads.h"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/device/buffer.h"
#include "tests/gpu/gpu_case.h"

namespace winnow {
namespace {

std::vector<float> values_of(const DeviceBuffer<float>& buffer) {
  std::vector<float> values(buffer.count());
  CUDA_CHECK(cudaMemcpy(values.data(), buffer.get(), buffer.bytes(), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace

TEST_CASE("equal uploads share memory while they are shared, others do not") {
  if (lacks_gpu()) return;
  const std::vector<float> some = {1, 2, 3, 4, 5}, others = {1, 2, 3, 4, 6}, few = {1, 2, 3, 4};
  const DeviceBuffer<float> alone = upload(some);
  SharedUploads uploads;
  {
    const SharingUploads sharing(uploads);
    const DeviceBuffer<float> first = upload(some);
    DeviceBuffer<float> second = upload(some);
    CHECK(first.get() == second.get());
    CHECK(first.get() != alone.get());
    CHECK(upload(others).get() != first.get());
    CHECK(upload(few).get() != first.get());
    CHECK(upload(std::vector<float>{}).get() == nullptr);
    const DeviceBuffer<float> moved = std::move(second);
    CHECK(moved.get() == first.get());
    CHECK(values_of(moved) == some);
    CHECK(values_of(upload(others)) == others);
  }
  CHECK(upload(some).get() != alone.get());
  CHECK(values_of(alone) == some);
}

TEST_CASE("shared uploads live as long as one of their owners") {
  if (lacks_gpu()) return;
  const std::vector<float> some(1000, 0.5f);
  SharedUploads uploads;
  DeviceBuffer<float> kept;
  {
    const SharingUploads sharing(uploads);
    const DeviceBuffer<float> first = upload(some);
    kept = upload(some);
  }
  CHECK(values_of(kept) == some);
  kept = DeviceBuffer<float>();
  const SharingUploads sharing(uploads);  // what nobody has any more is uploaded anew
  CHECK(values_of(upload(some)) == some);
}

}  // namespace winnow
