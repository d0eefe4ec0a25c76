// Which images are alive, kept on the device: flags that kernels set become an ascending list,
// without a word to the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engine.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

// Arguments of select_rows; all in device memory, no overlap between inputs and outputs.
struct RowSelection {
  const std::uint8_t* alive;   // [rows], not 0 for the rows to keep; aligned to 4 bytes
  std::uint32_t rows;          // the most rows that there can be
  const std::uint32_t* count;  // [1] rows in use, <= rows; null: all of them
  const std::uint32_t* ids;    // [rows] ids of the rows; null: row r has id r
  std::uint32_t* kept_row;     // [rows] the numbers of the kept rows, ascending; may be null
  std::uint32_t* kept_id;      // [rows] their ids; may be null
  std::uint32_t* kept_count;   // [1] how many are kept
  std::uint8_t* cleared;       // [rows] set to 0 for the rows in use; may be null
};

// Asynchronous, one kernel, fit for a CUDA graph; equal inputs give equal outputs.
void select_rows(const RowSelection& selection, cudaStream_t stream);

// The images that are left: row r is image ids()[r], for r < *count(). Kernels of a layer set
// alive()[r] to 1 for the rows that they leave not zero everywhere; keep() drops the others, so
// that row r is then what row rows()[r] was before.
//
// The pointers change with every keep(), in turns: the same sequence of calls after reset() gives
// the same pointers.
class LiveRows {
 public:
  LiveRows() = default;
  explicit LiveRows(std::uint32_t capacity);

  // The images first .. first + images - 1. Requires images <= capacity. Asynchronous.
  void reset(std::uint32_t first, std::uint32_t images, cudaStream_t stream);

  // Drops the rows whose flag is not set. Asynchronous.
  void keep(cudaStream_t stream);

  std::uint8_t* alive() const { return alive_[turn_].get(); }          // [capacity], 0 after keep()
  const std::uint32_t* ids() const { return ids_[turn_].get(); }       // [capacity], ascending
  const std::uint32_t* rows() const { return rows_.get(); }            // [capacity]
  const std::uint32_t* count() const { return count_.get() + turn_; }  // [1]

  // The images that are left, in host memory. Waits for `stream`.
  Categories download(cudaStream_t stream) const;

 private:
  std::uint32_t capacity_ = 0;
  int turn_ = 0;
  DeviceBuffer<std::uint8_t> alive_[2];
  DeviceBuffer<std::uint32_t> ids_[2];
  DeviceBuffer<std::uint32_t> rows_;
  DeviceBuffer<std::uint32_t> count_;  // [2]
};

}  // namespace winnow::challenge
