#include "runtime/challenge/ranks/rank_talk.h"

#include <algorithm>
#include <exception>

#include "runtime/challenge/ranks/packed.h"

namespace winnow::challenge {
namespace {

constexpr std::chrono::seconds kBeat(1);

}  // namespace

RankTalk::RankTalk(const RankPlace& place, std::chrono::seconds silence, RankMeeting meeting)
    : place_(place),
      silence_(silence),
      meeting_(std::move(meeting)),
      parts_(meeting_.links.size()),
      is_done_(meeting_.links.size()),
      is_gone_(meeting_.links.size()) {}

std::string RankTalk::name(std::size_t rank) const {
  return rank_name(static_cast<std::int64_t>(rank), place_.size, meeting_.machines[rank]);
}

bool RankTalk::has_unsent() const {
  return std::ranges::any_of(links(), [](const auto& link) { return link && link->has_unsent(); });
}

bool RankTalk::is_any_open() const {
  return std::ranges::any_of(links(), [](const auto& link) { return link && link->is_open(); });
}

void RankTalk::give(const std::string& part) {
  if (is_first()) {
    take_part(0, part);
  } else {
    say(RankMessage::part, part);
  }
}

std::optional<std::vector<std::string>> RankTalk::take_gathered() {
  if (gathered_.empty()) return std::nullopt;
  std::vector<std::string> all = std::move(gathered_.front());
  gathered_.pop_front();
  return all;
}

void RankTalk::go_on() {
  for (std::size_t rank = 0; rank < links().size(); ++rank) {
    if (!links()[rank] || is_gone_[rank]) continue;
    try {
      hear(rank);
      keep_alive(rank);
    } catch (const std::exception& error) {
      lose({ErrorCode::internal, name(rank) + ": " + error.what()});
    }
  }
}

void RankTalk::require_none_lost() const {
  if (lost_) throw Error(*lost_);
}

void RankTalk::require_none_done() const {
  for (std::size_t rank = 0; rank < is_done_.size(); ++rank) {
    if (!is_done_[rank] || parts_[rank]) continue;
    fail(ErrorCode::device, name(rank), " has ended before the others");
  }
}

void RankTalk::leave(ErrorCode code, const std::string& why) {
  if (lost_) return;
  const Error error(code, why);
  const Error told = is_first() ? error_of_rank(name(0), error) : error;
  say_last(RankMessage::lost, packed_error(told.code(), told.what()));
}

void RankTalk::finish() {
  say_last(RankMessage::end, "");
  is_finished_ = true;
  for (const auto& link : links()) {
    if (link) link->finish();
  }
}

void RankTalk::say(RankMessage kind, const std::string& bytes) const {
  for (const auto& link : links()) {
    if (link && link->is_open()) link->send(kind, bytes);
  }
}

void RankTalk::say_last(RankMessage kind, const std::string& bytes) {
  if (!has_said_last_) say(kind, bytes);
  has_said_last_ = true;
}

// Rank 0's: the last part makes the whole, which goes to all.
void RankTalk::take_part(std::size_t rank, const std::string& bytes) {
  parts_[rank] = bytes;
  if (!std::ranges::all_of(parts_, [](const auto& part) { return part.has_value(); })) return;
  std::vector<std::string> all;
  for (auto& part : parts_) {
    all.push_back(std::move(*part));
    part.reset();
  }
  say(RankMessage::all, packed_texts(all));
  gathered_.push_back(std::move(all));
}

void RankTalk::hear(std::size_t rank) {
  RankLink& link = *links()[rank];
  link.receive();
  while (const std::optional<RankFrame> frame = link.next()) take(rank, *frame);
  is_gone_[rank] = !link.is_open();
  if (link.is_open() || is_done_[rank]) return;
  lose({ErrorCode::device, name(rank) + " has ended before it was done"});
}

void RankTalk::take(std::size_t rank, const RankFrame& frame) {
  if (frame.kind == RankMessage::part && is_first()) {
    take_part(rank, frame.bytes);
  } else if (frame.kind == RankMessage::all && !is_first()) {
    gathered_.push_back(unpacked_texts(frame.bytes));
  } else if (frame.kind == RankMessage::end) {
    is_done_[rank] = true;
  } else if (frame.kind == RankMessage::lost) {
    const Error told = unpacked_error(frame.bytes);
    lose(is_first() ? error_of_rank(name(rank), told) : told);
  }
}

void RankTalk::keep_alive(std::size_t rank) {
  RankLink& link = *links()[rank];
  const auto now = RankLink::Clock::now();
  if (!has_said_last_ && now - link.last_sent() >= kBeat) link.send(RankMessage::beat);
  link.flush();
  if (is_gone_[rank] || is_done_[rank] || now - std::max(link.last_heard(), start_) < silence_)
    return;
  lose({ErrorCode::device, name(rank) + " has been silent for " + std::to_string(silence_.count()) +
                               " s: it has died or its machine is gone"});
}

void RankTalk::lose(const Error& error) {
  if (lost_ || is_finished_) return;
  lost_ = error;
  if (is_first()) say_last(RankMessage::lost, packed_error(error.code(), error.what()));
}

}  // namespace winnow::challenge
