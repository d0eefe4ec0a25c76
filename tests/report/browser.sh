#!/bin/bash
# browser.sh FOLDER: prints the command of a headless Chromium: WINNOW_BROWSER, one that is installed, Playwright's, or Debian's
# packages, downloaded and unpacked into FOLDER (100 MB the first time; the system stays as it is). Without one it fails
# and says why on stderr.
set -eu
folder=$1
package=chromium-headless-shell

if [ -n "${WINNOW_BROWSER:-}" ]; then
  echo "$WINNOW_BROWSER"
  exit
fi
for name in chromium-headless-shell headless_shell chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name"; then exit; fi
done
for path in "${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}"/chromium*/chrome-*/{headless_shell,chrome-headless-shell,chrome}; do
  if [ -x "$path" ]; then
    echo "$path"
    exit
  fi
done

command -v apt-get >/dev/null || { echo "no Chromium and no apt-get; WINNOW_BROWSER names one" >&2; exit 1; }
mkdir -p "$folder/packages"
if [ ! -e "$folder/complete" ]; then
  # The package and those of its libraries that this machine lacks.
  missing=$(LC_ALL=C apt-get -s install --no-install-recommends "$package" 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p')
  [ -n "$missing" ] || { echo "apt-get knows no $package; WINNOW_BROWSER names another browser" >&2; exit 1; }
  # shellcheck disable=SC2086
  (cd "$folder/packages" && apt-get download -qq $missing) >/dev/null 2>"$folder/log" ||
    { echo "apt-get download $package: $(tail -1 "$folder/log")" >&2; exit 1; }
  for file in "$folder"/packages/*.deb; do dpkg -x "$file" "$folder/root"; done
  rm -r "$folder/packages"
  touch "$folder/complete"
fi
# The folders of its libraries: all that have any.
libraries=$(find "$folder/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
# A machine without fonts has those that came with the browser.
fonts=
if [ -d "$folder/root/usr/share/fonts" ]; then
  echo "<fontconfig><dir>$folder/root/usr/share/fonts</dir><cachedir>$folder/fonts</cachedir></fontconfig>" > "$folder/fonts.conf"
  fonts="FONTCONFIG_FILE='$folder/fonts.conf'"
fi
cat > "$folder/browser" <<END
#!/bin/sh
LD_LIBRARY_PATH='$libraries' $fonts exec '$folder/root/usr/lib/chromium/$package' "\$@"
END
chmod +x "$folder/browser"
echo "$folder/browser"
