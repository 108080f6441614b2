#!/bin/sh
# Installs to a folder of its own, builds a program on the installed library,
# and runs the installed program from elsewhere:
#   install_test.sh SOURCE BUILD CMAKE COMPILER
set -eu
source=$1 build=$2 cmake=$3 compiler=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

expect() {  # NAME EXPECTED ACTUAL
  if [ "$2" != "$3" ]; then
    echo "$1: got \"$3\", expected \"$2\"" >&2
    exit 1
  fi
}

"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"
for file in bin/cairn share/cairn/cairn.image share/man/man1/cairn.1 \
  share/man/zh_CN/man1/cairn.1 share/locale/zh_CN/LC_MESSAGES/cairn.mo \
  share/bash-completion/completions/cairn share/zsh/site-functions/_cairn \
  share/fish/vendor_completions.d/cairn.fish include/cairn/base/result.h; do
  [ -s "$prefix/$file" ] || { echo "not installed: $file" >&2; exit 1; }
done

cd "$work"
unset CAIRN_DATA
export LC_ALL=C
data=$(prefix/bin/cairn version --json | sed -n 's/.*"data": "\(.*\)",/\1/p')
expect "data in use" "$prefix/share/cairn/cairn.image" "$data"
prefix/bin/cairn gpus show mi300x >/dev/null
expect "title in Chinese" "全局选项" "$(prefix/bin/cairn --lang zh | grep -x 全局选项)"
# Moved as a whole, it still finds what belongs to it.
mv prefix moved
moved/bin/cairn gpus show mi300x >/dev/null
mv moved prefix

"$cmake" -G Ninja -S "$source/examples/consumer" -B consumer -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="${CAIRN_TEST_CXXFLAGS:-}" >"$work/configure.log"
"$cmake" --build consumer >"$work/build.log"
# 192 GiB: https://rocm.docs.amd.com/en/docs-7.2.4/reference/gpu-arch-specs.html
expect "consumer" "Instinct MI300X: 192 GiB" \
  "$(consumer/consumer "$prefix/share/cairn/cairn.image" mi300x)"
