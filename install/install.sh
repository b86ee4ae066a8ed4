#!/usr/bin/env bash
# Builds the tool and installs it for this user: `sync` and `syncx` in PREFIX/bin (default ~/.local).
# `syncx` is the name to use where `sync` of coreutils comes first on the PATH.
set -euo pipefail
prefix=${1:-$HOME/.local}
cd "$(dirname "$0")/.."
command -v node >/dev/null || { echo "install: Node.js 20.19 or newer is needed" >&2; exit 2; }
npm ci
npm run build
pack=$(mktemp -d)
trap 'rm -rf "$pack"' EXIT
npm pack --silent --pack-destination "$pack" >/dev/null
npm install --global --prefix "$prefix" "$pack"/*.tgz
"$prefix/bin/syncx" --version
