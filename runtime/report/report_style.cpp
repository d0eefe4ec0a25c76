#include "runtime/report/report_style.h"

namespace winnow {

const char* const kReportStyle = R"(
:root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--faint:#57606a;--line:#d8dee4;--box:#f6f8fa;
--accent:#1f6feb;--c0:#1f6feb;--c1:#d1242f;--c2:#1a7f37;--c3:#9a6700;--c4:#8250df;--c5:#57606a}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#30363d;
--box:#161b22;--accent:#388bfd;--c0:#58a6ff;--c1:#ff7b72;--c2:#56d364;--c3:#e3b341;--c4:#bc8cff;
--c5:#9198a1}}
body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;
background:var(--page);color:var(--ink);overflow-wrap:anywhere}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
svg{width:100%;height:auto;margin:.6em 0}
svg text{font:11px system-ui,sans-serif;fill:var(--faint)}
svg .title text{font-size:13px;fill:var(--ink)}svg text.name{fill:var(--ink)}
svg .over text{paint-order:stroke;stroke:var(--page);stroke-width:4px}
svg text.on-dark{fill:#fff}svg text.on-light{fill:#000}
svg .grid{stroke:var(--line);stroke-width:.7}svg circle{fill:var(--accent)}
svg .mark{stroke:var(--ink);stroke-width:1;stroke-dasharray:5 3}
svg .cell{fill:color-mix(in srgb,var(--accent) calc(var(--shade)*100%),var(--box))}
svg .edge{fill:none;stroke:var(--faint);stroke-width:1.4}
svg polyline{fill:none;stroke-width:1.8}
rect.series0,circle.series0{fill:var(--c0)}polyline.series0{stroke:var(--c0)}
rect.series1,circle.series1{fill:var(--c1)}polyline.series1{stroke:var(--c1)}
rect.series2,circle.series2{fill:var(--c2)}polyline.series2{stroke:var(--c2)}
rect.series3,circle.series3{fill:var(--c3)}polyline.series3{stroke:var(--c3)}
rect.series4,circle.series4{fill:var(--c4)}polyline.series4{stroke:var(--c4)}
rect.series5,circle.series5{fill:var(--c5)}polyline.series5{stroke:var(--c5)}
.scroll{overflow:auto;max-height:42em;margin:.6em 0}.scroll svg{min-width:640px}
table{border-collapse:collapse}caption{text-align:left;color:var(--faint);padding:.4em 0}
th{text-align:left;font-weight:600}tbody th{font-weight:400}
th,td{padding:.25em 1.2em .25em 0;border-bottom:1px solid var(--line);vertical-align:top}
.scroll th,.scroll td{font-size:12px;padding-right:.9em;overflow-wrap:normal}
td,.number{font-variant-numeric:tabular-nums}th.number,td.number{text-align:right}
td[style]{background:color-mix(in srgb,var(--accent) calc(var(--shade)*45%),transparent)}
pre{background:var(--box);padding:1em;overflow:auto;font-size:12px}
code{background:var(--box);padding:.1em .3em;font-size:13px}.missing{color:var(--faint)}
)";

}  // namespace winnow
