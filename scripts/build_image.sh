#!/usr/bin/env bash
# Builds the image of deploy/Containerfile and runs it. Uses docker, podman or buildah if there is one that works; as root on Debian
# or Ubuntu without one, buildah in a chroot from the distribution's packages, with a base image of that distribution's Python.
set -euo pipefail
cd "$(dirname "$0")/.."
words=(build -f deploy/Containerfile -t almanac .)
if docker info >/dev/null 2>&1; then
  docker "${words[@]}" && exec docker run --rm --read-only --tmpfs /tmp --cap-drop ALL almanac --version
elif command -v podman >/dev/null; then
  podman "${words[@]}" --format docker && exec podman run --rm --read-only --tmpfs /tmp --cap-drop ALL almanac --version
fi
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "THE IMAGE WAS NOT BUILT: install docker or podman, or on Debian, as root: apt-get install debootstrap" >&2
  exit 1
fi

place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
export place
unshare --mount bash -euo pipefail <<'CHROOT'
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,python-is-python3,ca-certificates "$suite" "$place/base"
  cp /etc/ssl/certs/ca-certificates.crt "$place/base/etc/ssl/certs/"
  printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' > "$place/base/etc/pip.conf"
  version=$(chroot "$place/base" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  cp -a "$place/base" "$place/builder"
  chroot "$place/builder" apt-get install -y -q --no-install-recommends buildah
  tar -C "$place/base" -cf "$place/builder/base.tar" .
  mkdir "$place/builder/checkout"
  git archive HEAD | tar -x -C "$place/builder/checkout"
  mount --bind "$place/builder" "$place/builder"
  mount -t proc proc "$place/builder/proc"
  mount --rbind /dev "$place/builder/dev"
  mount --rbind /sys "$place/builder/sys"
  cp /etc/resolv.conf /etc/hosts "$place/builder/etc/"
  mkdir -p "$place/builder/etc/containers"
  echo '{"default":[{"type":"insecureAcceptAnything"}]}' > "$place/builder/etc/containers/policy.json"
  cd "$place/builder"
  env STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot PYTHON="$version" chroot . bash -euo pipefail <<'BUILD'
    base=$(buildah from scratch)
    buildah add -q "$base" /base.tar /
    buildah commit -q "$base" "python:$PYTHON-slim"
    cd /checkout
    buildah bud --pull-never --build-arg PYTHON="$PYTHON" --ignorefile deploy/Containerfile.dockerignore --format docker \
      -f deploy/Containerfile -t almanac .
    run=$(buildah from --pull-never almanac)
    buildah run "$run" -- almanac --version </dev/null
    buildah run "$run" -- sh -c 'test "$(id -u):$(id -g)" = 10001:10001 && touch /data/x && ! touch /almanac/x 2>/dev/null && almanac migrate' </dev/null
    echo "the image was built and runs"
BUILD
CHROOT
