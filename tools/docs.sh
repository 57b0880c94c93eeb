#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh - build the site into build/site, with MkDocs in an environment of its
# own below build/, which is made again when docs/requirements.txt changes.
set -eu
cd "$(dirname "$0")/.."

venv=build/docs-venv
if ! cmp -s docs/requirements.txt $venv/requirements.txt; then
    python3 -m venv --clear $venv
    $venv/bin/pip install -q -r docs/requirements.txt
    cp docs/requirements.txt $venv/requirements.txt
fi
NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 $venv/bin/mkdocs build -q
echo "build/site/index.html"
