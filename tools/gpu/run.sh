#!/bin/sh
# What tools/gpu/pack.mjs has packed. What is compressed is unpacked on the first run.
#   run.sh test [name]       the tests on the GPU, or those whose names match a regular expression
#   run.sh sanitize [name]   the same under compute-sanitizer, for memory and for races
#   run.sh all [name]        both, the second where compute-sanitizer is found
#   run.sh bench [options]   times Eagre, and PyTorch where python3 has it; --help tells the options
# It exits with 77 where there is no GPU. EAGRE_NODE, EAGRE_NVRTC and EAGRE_CUDA_DRIVER name files that are used instead of those it finds,
# EAGRE_JOBS how many processes test side by side (one under compute-sanitizer).
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# unpack BEGINNING: finds BEGINNING*.SIZE.xz, and sets `file` to what was in it, or to nothing.
unpack() {
  file=
  for packed in "$here/$1"*.xz; do
    [ -e "$packed" ] || return 0
    name=$(basename "$packed" .xz)
    file=$here/unpacked/${name%.*}
    [ -e "$file" ] && return 0
    echo "unpacking ${name%.*}" >&2
    mkdir -p "$here/unpacked"
    if command -v xz >/dev/null; then xz -dc "$packed" >"$file.part"
    else python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$packed" >"$file.part"
    fi
    chmod +x "$file.part"
    mv "$file.part" "$file"
  done
}

# unpack_programs: sets `programs` to where src and node_modules are, from an archive that is newer than what was unpacked.
unpack_programs() {
  programs=$here
  [ -e "$here/programs.tar.xz" ] || return 0
  programs=$here/unpacked/programs
  [ -e "$programs/done" ] && [ ! "$here/programs.tar.xz" -nt "$programs/done" ] && return 0
  echo "unpacking the programs" >&2
  rm -rf "$programs"
  mkdir -p "$programs"
  if command -v xz >/dev/null && command -v tar >/dev/null; then tar -C "$programs" -xJf "$here/programs.tar.xz"
  else python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/programs.tar.xz" "$programs"
  fi
  : >"$programs/done"
}

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

if [ -z "${EAGRE_NVRTC:-}" ]; then
  unpack libnvrtc-builtins
  unpack libnvrtc.so
  if [ -n "$file" ]; then
    export EAGRE_NVRTC="$file"
    # NVRTC asks the loader for its builtins.
    export LD_LIBRARY_PATH="$here/unpacked${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  fi
fi
node=${EAGRE_NODE:-}
if [ -z "$node" ]; then
  unpack node-
  node=$file
fi
[ -n "$node" ] || { echo "there is no Node in this pack: name one in EAGRE_NODE" >&2; exit 2; }

test_all() { "$node" --expose-gc "$programs/src/test.mjs" "$@"; }

find_sanitizer() {
  for sanitizer in compute-sanitizer "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" "${CUDA_HOME:-/usr/local/cuda}/compute-sanitizer/compute-sanitizer"; do
    command -v "$sanitizer" >/dev/null && return 0
  done
  echo "compute-sanitizer is not found: nothing was looked at with it" >&2
  return 1
}
sanitize() {
  for tool in memcheck racecheck; do
    echo "under compute-sanitizer: $tool" >&2
    # Races are looked for in the kernels of Eagre, not in those of cuBLASLt.
    [ "$tool" = memcheck ] || export EAGRE_CUBLASLT=0
    EAGRE_JOBS=1 "$sanitizer" --tool "$tool" --error-exitcode 1 --target-processes all "$node" --expose-gc "$programs/src/test.mjs" "$@"
  done
}

[ $# -gt 0 ] || usage
unpack_programs
program=$1
shift
case $program in
  test) test_all "$@" ;;
  sanitize) find_sanitizer && sanitize "$@" ;;
  all)
    test_all "$@"
    if find_sanitizer; then sanitize "$@"; fi
    ;;
  bench) exec "$node" --expose-gc "$programs/src/bench.mjs" "$@" ;;
  *) usage ;;
esac
