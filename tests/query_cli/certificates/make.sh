#!/bin/sh
# Makes the certificates here, for tests only: an issuer that the tests trust, and servers of 127.0.0.1 that are right,
# too old, somebody else, and issued by a stranger. All but the old one are valid from 2020 for a hundred years.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/config" <<END
[ca]
default_ca = it
[it]
new_certs_dir = $work
database = $work/index
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
END
: > "$work/index"
key() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "$@"
}
issuer() {
    key -x509 -keyout "$work/$1.key" -out "$work/$1.pem" -days 36500 -subj "/CN=fast-rlm tests: $1"
}
server() { # name, issuer, subject alternative name, end
    key -keyout "$1.key" -out "$work/csr" -subj "/CN=$1"
    printf 'subjectAltName=%s\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n' "$3" > "$work/ext"
    openssl ca -batch -notext -config "$work/config" -cert "$work/$2.pem" -keyfile "$work/$2.key" -in "$work/csr" \
        -out "$1.pem" -extfile "$work/ext" -startdate 20200101000000Z -enddate "$4"
}
issuer issuer
issuer stranger
server good issuer IP:127.0.0.1 21200101000000Z
server expired issuer IP:127.0.0.1 20200102000000Z
server elsewhere issuer DNS:elsewhere.test 21200101000000Z
server unknown stranger IP:127.0.0.1 21200101000000Z
cp "$work/issuer.pem" .
