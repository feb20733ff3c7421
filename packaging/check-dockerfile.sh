#!/bin/sh
# Runs the last stage of packaging/Dockerfile in a plain Debian root made by debootstrap, with a program that is built already,
# and serves a model in it. Needs root, debootstrap and a mirror of Debian.
#   packaging/check-dockerfile.sh [PROGRAM]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../target/release/parsimon}
release=$(sed -n 's/^FROM debian:\([a-z]*\)-slim$/\1/p' "$here/Dockerfile")
[ -x "$program" ] || { echo "$program: build the program first" >&2; exit 1; }
command -v debootstrap > /dev/null || { echo "debootstrap is not installed: apt-get install debootstrap" >&2; exit 2; }
root=$(mktemp -d)
# The user of the image must be able to enter it.
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase "$release" "$root" > "$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 2; }
rm -f "$root.log"
# COPY, then the RUN lines of the last stage as they stand.
install -D -m 755 "$program" "$root/usr/local/bin/parsimon"
sed -n '/^FROM debian:[a-z]*-slim$/,$s/^RUN //p' "$here/Dockerfile" | while read -r step; do
    echo "RUN $step"
    chroot "$root" /bin/sh -c "$step"
done
cat > "$root/check.sh" <<'CHECK'
set -eu
cd /var/lib/parsimon
parsimon --version
parsimon serve --data data --listen 127.0.0.1:18099 --model m --loss logistic 2> serve.log &
for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q listening serve.log && break; sleep 1; done
printf '{"id":"r1","label":1,"site":"a"}\n' > rows.jsonl
parsimon client learn rows.jsonl --url http://127.0.0.1:18099/v1/models/m
parsimon client score rows.jsonl --url http://127.0.0.1:18099/v1/models/m
kill -TERM $!
wait $!
parsimon log verify data/m
CHECK
chroot "$root" su -s /bin/sh parsimon /check.sh
echo "the steps of packaging/Dockerfile work in Debian $release"
