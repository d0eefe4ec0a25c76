#include "tests/model/file_mutation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/model/little_endian.h"
#include "tests/model/file_surgery.h"

namespace winnow {
namespace {

// Numbers at which arithmetic tends to go wrong.
std::uint64_t awkward_number(Random& random) {
  constexpr std::array<std::uint64_t, 12> kNumbers = {
      0,     1,           2,           255,         256,           65535,
      65536, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x1'0000'0000, ~std::uint64_t{0}};
  switch (random.below(3)) {
    case 0:
      return kNumbers[random.below(kNumbers.size())];
    case 1:
      return random.below(64);
    default:
      return random.bits() >> random.below(64);
  }
}

// Overwrites 1, 2, 4 or 8 bytes at a multiple of their size.
void change_number(FileSurgery& file, std::size_t begin, std::size_t end, Random& random) {
  const std::size_t size = std::size_t{1} << random.below(4);
  if (end - begin < size) return;
  const std::size_t at = begin + random.below((end - begin) / size) * size;
  const std::uint64_t number = awkward_number(random);
  switch (size) {
    case 1:
      file.put(at, static_cast<std::uint8_t>(number));
      break;
    case 2:
      file.put(at, static_cast<std::uint16_t>(number));
      break;
    case 4:
      file.put(at, static_cast<std::uint32_t>(number));
      break;
    default:
      file.put(at, number);
  }
}

void change_content(std::vector<std::byte>& content, Random& random) {
  const std::size_t at = random.below(content.size() + 1);
  const std::size_t count = random.below(9);
  if (random.chance(0.5)) {
    const std::size_t most = std::min(count, content.size() - at);
    content.erase(content.begin() + static_cast<std::ptrdiff_t>(at),
                  content.begin() + static_cast<std::ptrdiff_t>(at + most));
  } else {
    const auto value = static_cast<std::byte>(random.below(256));
    content.insert(content.begin() + static_cast<std::ptrdiff_t>(at), count, value);
  }
}

void change_sections(std::vector<SectionContent>& sections, Random& random) {
  const std::size_t one = random.below(sections.size());
  const std::size_t other = random.below(sections.size());
  switch (random.below(8)) {
    case 0:
      std::swap(sections[one], sections[other]);
      break;
    case 1:
      std::swap(sections[one].own, sections[other].own);
      break;
    case 2:
      if (sections.size() > 1) sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(one));
      break;
    default:
      change_content(sections[one].own, random);
  }
}

// A place that the reader looks at: header, table, records or any section.
void change_place(FileSurgery& file, Random& random) {
  const auto& bytes = file.bytes();
  const auto count = load<FileHeader>(bytes.data()).section_count;
  const std::size_t table_end = kHeaderBytes + count * kTableEntryBytes;
  const bool is_head = random.chance(0.25);
  const std::size_t section = random.chance(0.4) ? 2 : random.below(count);
  const std::size_t entry_at = kHeaderBytes + section * kTableEntryBytes;
  if (is_head || section >= count) {
    change_number(file, random.chance(0.5) ? 0 : kHeaderBytes, table_end, random);
  } else {
    const auto entry = load<SectionEntry>(bytes.data() + entry_at);
    change_number(file, entry.offset, entry.offset + entry.bytes, random);
  }
}

}  // namespace

std::vector<std::byte> mutated(std::vector<std::byte> file, Random& random) {
  FileSurgery surgery(std::move(file));
  if (random.chance(0.3)) {
    surgery.rebuild([&](auto& sections) { change_sections(sections, random); });
  }
  // Places are drawn from the file as it is now; the fields that say where they are change last.
  std::vector<std::byte> sound = surgery.bytes();
  for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
    FileSurgery next(surgery);
    change_place(next, random);
    const std::size_t head =
        kHeaderBytes + load<FileHeader>(sound.data()).section_count * kTableEntryBytes;
    const bool is_head_sound =
        std::equal(sound.begin(), sound.begin() + head, next.bytes().begin());
    surgery = std::move(next);
    if (!is_head_sound) return surgery.seal().bytes();
  }
  if (random.chance(0.7)) surgery.announce();
  return surgery.seal().bytes();
}

}  // namespace winnow
