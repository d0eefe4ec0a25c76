// Numbers of a run as text, for the table, the page and the card. What is not known is "-".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace winnow {

std::string decimal(double value, int digits);
std::string percent(std::optional<double> fraction);                         // "93.00 %"
std::string bytes(std::optional<double> count);                              // "4000 bytes"
std::string ratio(std::optional<double> whole, std::optional<double> part);  // " (2.0x smaller)"
std::string per_image(std::optional<double> batch_ms, std::int64_t batch);   // "0.1000 ms"

}  // namespace winnow
