#include "prune/training/ranks/store_peers.h"

#include <iterator>
#include <set>

#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;  // that a message of the store has

std::string gather_key(std::int64_t round, std::int64_t rank) {
  return "gather" + std::to_string(round) + "/" + std::to_string(rank);
}
std::string piece_key(const std::string& key, std::size_t piece) {
  return key + "/" + std::to_string(piece);
}

}  // namespace

std::vector<std::string> StorePeers::gather(const std::string& mine) {
  const std::int64_t round = gathered_++;
  store_.put(gather_key(round, rank()), mine);
  // Whoever took part in the round before has read the one before that.
  if (round >= 2) store_.drop(gather_key(round - 2, rank()));
  std::vector<std::string> all;
  for (std::int64_t r = 0; r < size(); ++r) {
    all.push_back(r == rank() ? mine : store_.take(gather_key(round, r)));
  }
  return all;
}

std::shared_ptr<const Snapshot> StorePeers::share(std::shared_ptr<const Snapshot> mine,
                                                  std::int64_t from) {
  if (is_direct()) return trainee_->broadcast(std::move(mine), from);
  const std::string key = "snapshot" + std::to_string(shared_++);
  if (rank() == from) {
    send(key, trainee_->snapshot_bytes(*mine));
    return mine;
  }
  return trainee_->snapshot_from(receive(key));
}

// A module that cannot be opened leaves the way through host memory.
std::string StorePeers::own_gpu() {
  if (!may_be_direct_) return "";
  try {
    return trainee_->gpu_identity();
  } catch (const Error& error) {
    reason_ = one_line(error.what());
    return "";
  }
}

std::string StorePeers::way() const {
  if (!is_direct_) return "";
  if (*is_direct_) return ", networks from GPU to GPU by NCCL";
  return ", networks through host memory" + (reason_.empty() ? "" : " (" + reason_ + ")");
}

// NCCL wants ranks on different GPUs.
bool StorePeers::is_direct() {
  if (is_direct_) return *is_direct_;
  const std::vector<std::string> gpus = gather(own_gpu());
  const std::set<std::string> different(gpus.begin(), gpus.end());
  is_direct_ = different.size() == gpus.size() && !different.contains("");
  if (*is_direct_) {
    trainee_->join_population({.store = &store_,
                               .name = "population" + std::to_string(populations_++),
                               .rank = rank(),
                               .size = size()});
  }
  return *is_direct_;
}

void StorePeers::send(const std::string& key, const std::string& bytes) {
  const auto pieces = static_cast<std::size_t>(divided_up(std::ssize(bytes), kPieceBytes));
  for (std::size_t i = 0; i < pieces; ++i) {
    store_.put(piece_key(key, i),
               bytes.substr(i * std::size_t{kPieceBytes}, std::size_t{kPieceBytes}));
  }
  store_.put(key, std::to_string(pieces));
  store_.wait_for_count(key + "/read", size() - 1);
  for (std::size_t i = 0; i < pieces; ++i) store_.drop(piece_key(key, i));
  store_.drop(key);
  store_.drop(key + "/read");
}

std::string StorePeers::receive(const std::string& key) {
  const std::size_t pieces = std::stoul(store_.take(key));
  std::string bytes;
  for (std::size_t i = 0; i < pieces; ++i) bytes += store_.take(piece_key(key, i));
  store_.count(key + "/read");
  return bytes;
}

}  // namespace winnow
