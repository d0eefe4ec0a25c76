// The words of a vocabulary as files hold them (docs/model-file.md, "Vocabulary").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

// What is wrong with the words, or nothing: there are 1 to 2^24 - 2 (tokens are exact as floats),
// each of 1 to 255 bytes of UTF-8 without spaces and control characters, and none occurs twice.
std::string find_vocabulary_defect(const std::vector<std::string>& words);

// Every word with a line feed behind it, and back.
// Throws Error{bad_file} if the last word has no end; `place` begins the message.
std::string joined_words(const std::vector<std::string>& words);
std::vector<std::string> split_words(std::string_view text, const std::string& place);

// The section of a model file. Requires words without defect.
std::vector<std::byte> encode_vocabulary(const std::vector<std::string>& words);

// Bytes of memory that the section announces to take when it is read: its own and 64 for each word.
// Throws Error{bad_file} unless the section has its fields, a tokenizer that is known, and room for
// as many words as it announces.
std::uint64_t vocabulary_bytes(std::span<const std::byte> section, const std::string& place);

// Throws Error{bad_file} too if the words have a defect or are not as many as announced.
std::vector<std::string> decode_vocabulary(std::span<const std::byte> section,
                                           const std::string& place);

}  // namespace winnow
