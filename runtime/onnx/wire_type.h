// How a field's value lies on the wire of protocol buffers.
#pragma once

namespace winnow {

// The lowest three bits of a field's tag.
enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

}  // namespace winnow
