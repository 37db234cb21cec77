# shellcheck shell=bash
#
# Finds Go, a C compiler and whatever else a script needs, and installs what is missing after asking.
# Sourced by ./demo, ./test and .ci/run from the top folder; kept to what bash 3.2 understands, since macOS ships that.
#
#   need go cc strace …   returns when everything is there, exits 3 with the command to run when it may not install
#   announce_sqlite FLAG  says that SQLite is about to be compiled, if the build cache does not hold it yet

# Set by a script that was given --yes.
assume_yes=${assume_yes:-}
[ "${CI:-}" != true ] || assume_yes=1

# The oldest Go that fetches a newer one by itself, as go.mod asks.
oldest_go=1.21

say() { printf '%s\n' "$*" >&2; }

have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANT compares dotted numbers: 1.26.1 is at least 1.26, and 1.9 is not at least 1.21.
version_at_least() {
	local have want i
	IFS=. read -r -a have <<<"$1"
	IFS=. read -r -a want <<<"$2"
	for i in 0 1 2; do
		[ "${have[i]:-0}" -le "${want[i]:-0}" ] || return 0
		[ "${have[i]:-0}" -ge "${want[i]:-0}" ] || return 1
	done
}

# go_version BINARY prints the number of that very toolchain, from a folder whose go.mod cannot make it fetch another.
go_version() {
	(cd / && GOTOOLCHAIN=local "$1" version 2>/dev/null) | sed -n 's/.*go\([0-9][0-9.]*[0-9]\).*/\1/p'
}

# go_pinned BINARY prints the user's own GOTOOLCHAIN, from the environment or from "go env -w". A distribution's default
# is not the user's word: Debian and Fedora build Go with "local".
go_pinned() {
	local file
	if [ -n "${GOTOOLCHAIN:-}" ]; then
		printf '%s\n' "$GOTOOLCHAIN"
		return
	fi
	file=$(cd / && "$1" env GOENV 2>/dev/null) || return 0
	[ ! -f "$file" ] || sed -n 's/^GOTOOLCHAIN=//p' "$file"
}

go_places() {
	command -v go || true
	local place
	for place in /usr/local/go/bin/go /usr/lib/go-*/bin/go /usr/lib/go/bin/go /opt/homebrew/bin/go "${HOME:-/root}"/sdk/go*/bin/go; do
		[ ! -x "$place" ] || printf '%s\n' "$place"
	done
}

# find_go puts a Go that can build this module first in PATH. Failing that it leaves in go_trouble what stands in the way,
# and in go_blocked, when no package would help, what the user can do.
find_go() {
	local wanted place version pinned fetcher=
	go_trouble='not found' go_blocked=
	wanted=$(sed -n 's/^go //p' go.mod)
	while read -r place; do
		[ -n "$place" ] || continue
		version=$(go_version "$place")
		[ -n "$version" ] || continue
		if version_at_least "$version" "$wanted"; then
			use_go "$place"
			return 0
		fi
		[ -z "$fetcher" ] || continue
		if ! version_at_least "$version" "$oldest_go"; then
			[ "$go_trouble" != 'not found' ] || go_trouble="$place is Go $version"
			continue
		fi
		pinned=$(go_pinned "$place")
		case $pinned in
		'' | *auto) fetcher=$place ;;
		go[0-9]*)
			if version_at_least "${pinned#go}" "$wanted"; then fetcher=$place; fi
			;;
		esac
		if [ -z "$fetcher" ]; then
			go_trouble="$place is Go $version, and GOTOOLCHAIN=$pinned keeps it from fetching Go $wanted, which go.mod asks for"
			go_blocked="GOTOOLCHAIN=auto in front of this command, or $(go_by_hand)"
		fi
	done <<<"$(go_places)"
	[ -n "$fetcher" ] || return 1
	go_blocked=
	use_go "$fetcher"
	say "Go $(go_version "$fetcher") found; it fetches Go $wanted by itself, once"
	[ -n "$(go_pinned "$fetcher")" ] || export GOTOOLCHAIN=auto
}

# go_by_hand prints the command that puts the wanted Go where go_places looks for it.
go_by_hand() {
	local wanted system machine
	wanted=$(sed -n 's/^go //p' go.mod)
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	machine=$(uname -m)
	case $machine in
	x86_64) machine=amd64 ;;
	aarch64) machine=arm64 ;;
	esac
	printf 'curl -fsSL https://go.dev/dl/go%s.%s-%s.tar.gz | %star -C /usr/local -xz' "$wanted" "$system" "$machine" "$(as_root)"
}

# as_root prints the prefix of a command that changes the system.
as_root() {
	[ "$(id -u)" = 0 ] || ! have sudo || printf 'sudo '
}

use_go() {
	[ "$1" = "$(command -v go || true)" ] || PATH=$(dirname "$1"):$PATH
	export PATH
}

# find_cc looks for a compiler that really compiles, C library headers included, and tells cgo when it is not the usual one.
find_cc() {
	local compiler
	if [ -n "${CC:-}" ]; then
		compiles "$CC"
		return
	fi
	for compiler in gcc clang cc; do
		if compiles "$compiler"; then
			[ "$compiler" = gcc ] || export CC=$compiler
			return 0
		fi
	done
	return 1
}

# compiles COMMAND: the command may carry flags, as CC may.
compiles() {
	# shellcheck disable=SC2086
	printf '#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n' | $1 -x c -c -o /dev/null - >/dev/null 2>&1
}

# find_certs: without root certificates Go cannot fetch modules, and a bare container has none.
find_certs() {
	local file
	[ -z "${SSL_CERT_FILE:-}${SSL_CERT_DIR:-}" ] || return 0
	[ "$(uname -s)" != Darwin ] || return 0
	for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/pki/tls/cacert.pem \
		/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem; do
		[ ! -s "$file" ] || return 0
	done
	return 1
}

find_tool() {
	case $1 in
	go) find_go ;;
	cc) find_cc ;;
	certs) find_certs ;;
	node) have node || have nodejs ;;
	postgresql) have initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ;;
	pgbouncer) have pgbouncer || [ -x /usr/sbin/pgbouncer ] ;; # Debian keeps it out of a user's PATH
	periods) [ -e "$(postgresql_share)/extension/periods.control" ] ;;
	mariadb) have mariadbd || [ -x /usr/sbin/mariadbd ] || [ -x /usr/libexec/mariadbd ] ;;
	*) have "$1" ;;
	esac
}

# postgresql_version prints the newest version of PostgreSQL in Debian's folders, nothing when there is none.
postgresql_version() {
	local folder
	for folder in /usr/lib/postgresql/*/bin/initdb; do
		[ ! -e "$folder" ] || printf '%s\n' "$folder"
	done | sed 's|^/usr/lib/postgresql/\([0-9]*\)/.*|\1|' | sort -n | tail -n 1
}

# postgresql_share prints the folder with the extensions of the PostgreSQL that the tests run.
postgresql_share() {
	local version
	version=$(postgresql_version)
	if [ -n "$version" ]; then
		printf '/usr/share/postgresql/%s' "$version"
	elif have pg_config; then
		pg_config --sharedir
	fi
}

# describe TOOL: one line on what it is for and, for Go, on what is wrong with what is there.
describe() {
	case $1 in
	go) printf 'Go %s or newer (%s)' "$oldest_go" "$go_trouble" ;;
	cc) printf 'a C compiler and the C library headers, for SQLite%s' "${CC:+ (CC=$CC does not compile)}" ;;
	certs) printf 'root certificates, to fetch Go modules' ;;
	strace) printf 'strace, which stops a process at each write of the crash tests' ;;
	node) printf 'Node.js, a second opinion on canonical JSON' ;;
	shellcheck) printf 'shellcheck, for the scripts' ;;
	postgresql) printf 'PostgreSQL 15 or newer, of which the tests run a server of their own' ;;
	pgbouncer) printf 'PgBouncer, a pooler that the tests put in front of that server' ;;
	periods) printf 'the PostgreSQL extension periods, which the ledger is compared with' ;;
	mariadb) printf 'the MariaDB server, which the ledger is compared with' ;;
	*) printf '%s' "$1" ;;
	esac
}

package_manager() {
	local manager
	if [ "$(uname -s)" = Darwin ]; then
		have brew && printf 'brew\n'
		return
	fi
	for manager in apt-get dnf yum apk pacman zypper brew; do
		if have "$manager"; then
			printf '%s\n' "$manager"
			return
		fi
	done
}

# packages_for MANAGER TOOL prints package names; nothing when that manager has none that would do.
packages_for() {
	case $1:$2 in
	apt-get:go) apt_go ;;
	dnf:go | yum:go) printf 'golang' ;;
	*:go) printf 'go' ;;
	apt-get:cc) printf 'gcc libc6-dev' ;;
	dnf:cc | yum:cc | zypper:cc) printf 'gcc glibc-devel' ;;
	apk:cc) printf 'gcc musl-dev' ;;
	*:cc) printf 'gcc' ;;
	*:certs) printf 'ca-certificates' ;;
	brew:node) printf 'node' ;;
	zypper:node) printf 'nodejs-default' ;;
	*:node) printf 'nodejs' ;;
	dnf:shellcheck | yum:shellcheck | zypper:shellcheck) printf 'ShellCheck' ;;
	brew:strace) ;;
	dnf:postgresql | yum:postgresql | zypper:postgresql) printf 'postgresql-server postgresql-contrib' ;;
	apk:postgresql) printf 'postgresql postgresql-contrib' ;;
	apt-get:periods) apt_periods ;;
	*:periods) ;; # only Debian has a package of it
	apt-get:mariadb) printf 'mariadb-server-core' ;;
	dnf:mariadb | yum:mariadb) printf 'mariadb-server' ;;
	*) printf '%s' "$2" ;;
	esac
}

# apt_go: releases that carry an old golang-go often carry newer ones under versioned names. Before "apt-get update" has ever
# run nothing is known, and golang-go is the guess; what comes of it is looked at after the installation.
apt_go() {
	local newest candidate
	newest=$(apt-cache search --names-only '^golang-1\.[0-9]+-go$' 2>/dev/null | sed -n 's/^golang-\(1\.[0-9]*\)-go .*/\1/p' | sort -t. -k2 -n | tail -n 1)
	if [ -n "$newest" ] && version_at_least "$newest" "$oldest_go"; then
		printf 'golang-%s-go' "$newest"
		return
	fi
	candidate=$(apt-cache policy golang-go 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}\([0-9][0-9.]*\).*/\2/p')
	if [ -z "$candidate" ] || version_at_least "$candidate" "$oldest_go"; then
		printf 'golang-go'
	fi
}

# apt_periods: the package belongs to a version of PostgreSQL, the one that is there or the one that is about to be installed.
# Before "apt-get update" has ever run nobody knows which, and apt is given a pattern; a release has one.
apt_periods() {
	local version
	version=$(postgresql_version)
	[ -n "$version" ] || version=$(apt-cache policy postgresql 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][0-9]*\).*/\1/p')
	printf 'postgresql-%s-periods' "${version:-[0-9]+}"
}

# no_cluster AS_ROOT prints the command that keeps Debian's package from starting a server for the whole machine, unless
# somebody has said already what it should do.
no_cluster() {
	local file=/etc/postgresql-common/createcluster.conf
	[ -e "$file" ] || printf "%ssh -c 'mkdir -p %s && echo create_main_cluster = false >%s' && " "$1" "${file%/*}" "$file"
}

# no_service AS_ROOT prints the command that keeps Debian's package from starting a pooler for the whole machine, unless
# somebody has said already what it should do. "systemctl unmask pgbouncer" takes it back.
no_service() {
	local file=/etc/systemd/system/pgbouncer.service
	[ -e "$file" ] || printf "%ssh -c 'mkdir -p %s && ln -s /dev/null %s' && " "$1" "${file%/*}" "$file"
}

# install_command MANAGER PACKAGES prints the one command that installs them all.
install_command() {
	local manager=$1 packages=$2 as
	as=$(as_root)
	case $manager in
	apt-get)
		case " $packages " in
		*' postgresql '* | *' postgresql-'*) no_cluster "$as" ;;
		esac
		case " $packages " in
		*' pgbouncer '*) no_service "$as" ;;
		esac
		printf '%sapt-get update && %sapt-get install -y --no-install-recommends %s' "$as" "$as" "$packages"
		;;
	dnf | yum) printf '%s%s install -y %s' "$as" "$manager" "$packages" ;;
	apk) printf '%sapk add %s' "$as" "$packages" ;;
	pacman) printf '%spacman -Sy --needed --noconfirm %s' "$as" "$packages" ;;
	zypper) printf '%szypper --non-interactive install %s' "$as" "$packages" ;;
	brew) printf 'brew install %s' "$packages" ;;
	esac
}

# look TOOL… fills missing with those that are not there.
look() {
	local tool
	missing=()
	for tool in "$@"; do
		find_tool "$tool" || missing+=("$tool")
	done
}

need() {
	local tool manager packages names='' command='' blocked=''
	look "$@"
	[ ${#missing[@]} -gt 0 ] || return 0

	manager=$(package_manager)
	say "missing:"
	for tool in "${missing[@]}"; do
		say "  - $(describe "$tool")"
		if [ "$tool" = go ] && [ -n "$go_blocked" ]; then
			blocked="$blocked  $go_blocked"$'\n'
		elif [ "$tool" = cc ] && [ -n "${CC:-}" ]; then
			blocked="$blocked  set CC to a compiler that works, or unset it"$'\n'
		elif [ "$tool" = cc ] && [ "$(uname -s)" = Darwin ]; then
			blocked="$blocked  xcode-select --install"$'\n'
		elif packages=$(packages_for "${manager:-none}" "$tool") && [ -n "$packages" ]; then
			names="$names $packages"
		elif [ "$tool" = go ]; then
			blocked="$blocked  $(go_by_hand)"$'\n'
		else
			blocked="$blocked  $tool is not to be had here"$'\n'
		fi
	done
	if [ -n "$names" ] && [ -n "$manager" ]; then command=$(install_command "$manager" "${names# }"); fi

	if [ -n "$command" ]; then
		say "install with:"
		say "  $command"
	elif [ -n "$names" ]; then
		say "no package manager that this script knows: install them by hand"
	fi
	if [ -n "$blocked" ]; then
		say "to be done by hand:"
		say "${blocked%$'\n'}"
	fi
	may_install "$command" "$blocked" || exit 3

	DEBIAN_FRONTEND=noninteractive bash -c "$command" </dev/null >&2 || {
		say "the installation failed; once it is done, run this again"
		exit 3
	}
	hash -r
	look "$@"
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installed, and still missing:"
	for tool in "${missing[@]}"; do say "  - $(describe "$tool")"; done
	case " ${missing[*]} " in
	*' go '*) say "to be done by hand:"$'\n'"  ${go_blocked:-$(go_by_hand)}" ;;
	esac
	exit 3
}

# may_install COMMAND BLOCKED: whether the command may be run now, asking once on a terminal.
may_install() {
	local answer
	[ -n "$1" ] && [ -z "$2" ] || return 1
	if [ "$(id -u)" != 0 ] && ! have sudo && [ "${1#brew}" = "$1" ]; then
		say "that takes root, and there is no sudo"
		return 1
	fi
	[ -z "$assume_yes" ] || return 0
	if ! on_terminal; then
		say "not installed without being asked to: run the command, or repeat with --yes"
		return 1
	fi
	printf 'install now? [y/N] ' >&2
	read -r answer || return 1
	case $answer in
	[yY] | [yY][eE][sS]) return 0 ;;
	*) return 1 ;;
	esac
}

on_terminal() { [ -t 0 ] && [ -t 2 ]; }

# announce_sqlite FLAG: -race or -race=false, the build that is meant.
announce_sqlite() {
	local stale
	stale=$(go list "$1" -f '{{.Stale}}' github.com/mattn/go-sqlite3) || return
	[ "$stale" != true ] || say "compiling SQLite, once, about a minute"
}
