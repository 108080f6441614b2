# Sourced by ./cairn, ./test and .ci/run: what is needed to build, and getting
# it. Works on Debian 12 and later and Ubuntu 24.04 and later; elsewhere it says
# what is missing.

say() {
  printf '%s\n' "cairn: $*" >&2
}

# at_least HAVE WANTED: compares dotted version numbers.
at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# The packages that are missing for a build, one a line, each with its reason.
missing_for_build() {
  version=$(g++ -dumpfullversion 2>/dev/null) && at_least "$version" 12 ||
    echo "g++ C++23 compiler, version 12 or later"
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p') &&
    at_least "${version:-0}" 3.25 || echo "cmake build system, version 3.25 or later"
  command -v ninja >/dev/null || echo "ninja-build runs the build"
  command -v msgfmt >/dev/null || echo "gettext compiles the translations"
  command -v pkg-config >/dev/null || echo "pkg-config finds libraries"
  pkg-config --exists fmt 2>/dev/null || echo "libfmt-dev text formatting"
  pkg-config --exists yaml-0.1 2>/dev/null || echo "libyaml-dev YAML parser"
  pkg-config --exists nlohmann_json 2>/dev/null || echo "nlohmann-json3-dev JSON parser"
}

missing_for_tests() {
  missing_for_build
  pkg-config --exists gtest 2>/dev/null || echo "libgtest-dev test framework"
}

missing_for_checks() {
  missing_for_tests
  command -v git >/dev/null || echo "git lists the files to check"
  command -v clang++-19 >/dev/null || echo "clang-19 second compiler"
  command -v clang-format-19 >/dev/null || echo "clang-format-19 checks the format"
  command -v clang-tidy-19 >/dev/null || echo "clang-tidy-19 static analysis"
  [ -d /usr/lib/llvm-19/lib/clang/19/lib ] || echo "libclang-rt-19-dev sanitizers and fuzzing"
  command -v ccache >/dev/null || echo "ccache spares repeated compiling"
}

# install_missing LIST: LIST as printed above. Asks first, unless root or told
# yes (--yes, CAIRN_YES=1).
install_missing() {
  [ -n "$1" ] || return 0
  say "needed and not here:"
  printf '%s\n' "$1" | sed 's/^\([^ ]*\) /  \1: /' >&2
  packages=$(printf '%s\n' "$1" | sed 's/ .*//' | tr '\n' ' ')
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here; install these by the system's own means and start again"
    return 1
  fi
  as_root=
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "as root: apt-get install $packages"
      return 1
    fi
    as_root=sudo
    if [ "${CAIRN_YES:-}" != 1 ]; then
      if ! [ -t 0 ]; then
        say "to install them: sudo apt-get install $packages (or start with --yes)"
        return 1
      fi
      printf 'Install them with sudo apt-get? [y/N] ' >&2
      read -r answer
      case $answer in y* | Y*) ;; *) return 1 ;; esac
    fi
  fi
  # shellcheck disable=SC2086 # one word a package
  {
    DEBIAN_FRONTEND=noninteractive $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages
  } >&2 || {
    say "apt-get failed"
    return 1
  }
}

# build PRESET [TARGET...]: configures and builds; all output on stderr.
build() {
  preset=$1
  shift
  if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  {
    cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
  } >&2
}
