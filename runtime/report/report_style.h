// The look of the page.
#pragma once

namespace winnow {

// CSS for a light and a dark page, as the reader's system asks for. Charts name their colours
// series0 to series5. It names no font or picture of another place.
extern const char* const kReportStyle;

}  // namespace winnow
