package scripttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// bare is a machine with a package manager and nothing else. What is installed afterwards is told by the file $MARK.
const bare = `
find_tool() { [ -e "${MARK:-/nowhere}" ] && return; go_trouble='not found' go_blocked=; return 1; }
package_manager() { printf 'apt-get\n'; }
apt_go() { printf 'golang-go'; }
id() { printf '0\n'; }
have() { return 1; }
uname() { case $1 in -s) printf 'Linux\n' ;; *) printf 'x86_64\n' ;; esac; }
install_command() { printf 'echo installing %s; touch "$MARK"' "$2"; }
`

func TestNothingMissingSaysNothing(t *testing.T) {
	t.Parallel()
	got := bash(t, bare+"find_tool() { return 0; }\nneed go cc strace\necho went on", "")
	assert.Equal(t, outcome{0, "went on\n", ""}, got)
}

func TestEverythingMissingIsListedWithOneCommand(t *testing.T) {
	t.Parallel()
	const real = `
find_tool() { go_trouble='not found' go_blocked=; return 1; }
apt_go() { printf 'golang-go'; }
as_root() { printf 'sudo '; }
uname() { printf 'Linux\n'; }
no_cluster() { printf '%squiet && ' "$1"; }
no_service() { printf '%smasked && ' "$1"; }
`
	for manager, want := range map[string]string{
		"apt-get": "sudo quiet && sudo masked && sudo apt-get update && sudo apt-get install -y --no-install-recommends ca-certificates golang-go gcc libc6-dev strace nodejs postgresql pgbouncer mariadb-server-core shellcheck",
		"dnf":     "sudo dnf install -y ca-certificates golang gcc glibc-devel strace nodejs postgresql-server postgresql-contrib pgbouncer mariadb-server ShellCheck",
		"yum":     "sudo yum install -y ca-certificates golang gcc glibc-devel strace nodejs postgresql-server postgresql-contrib pgbouncer mariadb-server ShellCheck",
		"apk":     "sudo apk add ca-certificates go gcc musl-dev strace nodejs postgresql postgresql-contrib pgbouncer mariadb shellcheck",
		"pacman":  "sudo pacman -Sy --needed --noconfirm ca-certificates go gcc strace nodejs postgresql pgbouncer mariadb shellcheck",
		"zypper":  "sudo zypper --non-interactive install ca-certificates go gcc glibc-devel strace nodejs-default postgresql-server postgresql-contrib pgbouncer mariadb ShellCheck",
	} {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()
			got := bash(t, real+"package_manager() { printf '"+manager+"\\n'; }\nneed certs go cc strace node postgresql pgbouncer mariadb shellcheck\necho went on", "")
			assert.Equal(t, 3, got.code)
			assert.Empty(t, got.out)
			for _, line := range []string{"Go 1.21 or newer (not found)", "a C compiler", "root certificates", "strace", "Node.js", "PostgreSQL 15", "PgBouncer", "MariaDB", "install with:\n  " + want + "\n"} {
				assert.Contains(t, got.err, line)
			}
		})
	}
}

func TestMacHasItsOwnWays(t *testing.T) {
	t.Parallel()
	got := bash(t, bare+`
install_command() { printf 'brew install %s' "$2"; }
package_manager() { printf 'brew\n'; }
uname() { printf 'Darwin\n'; }
need go cc node`, "")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.err, "install with:\n  brew install go node\n")
	assert.Contains(t, got.err, "to be done by hand:\n  xcode-select --install\n")
}

func TestInstallingTakesConsent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, input string
		env                 []string
		code                int
		says                string
		installs            bool
	}{
		{name: "nobody to ask", code: 3, says: "not installed without being asked to"},
		{name: "CI=1 is not CI=true", env: []string{"CI=1"}, code: 3, says: "not installed without being asked to"},
		{name: "CI=true", env: []string{"CI=true"}, installs: true},
		{name: "--yes", script: "assume_yes=1\n", installs: true},
		{name: "asked, yes", script: "on_terminal() { true; }\n", input: "y\n", installs: true},
		{name: "asked, Yes", script: "on_terminal() { true; }\n", input: "Yes\n", installs: true},
		{name: "asked, no", script: "on_terminal() { true; }\n", input: "n\n", code: 3, says: "install now?"},
		{name: "asked, silence is no", script: "on_terminal() { true; }\n", input: "\n", code: 3, says: "install now?"},
		{name: "asked, gone away", script: "on_terminal() { true; }\n", code: 3, says: "install now?"},
		{name: "neither root nor sudo", script: "id() { printf '1000\\n'; }\n", env: []string{"CI=true"}, code: 3, says: "that takes root"},
		{name: "no package manager", script: "package_manager() { true; }\n", env: []string{"CI=true"}, code: 3, says: "install them by hand"},
		{name: "no package will do", script: "apt_go() { true; }\n", env: []string{"CI=true"}, code: 3, says: "curl -fsSL https://go.dev/dl/go1.26.0.linux-amd64.tar.gz | tar -C /usr/local -xz"},
		{name: "a compiler of the user's that does not work", env: []string{"CI=true", "CC=nothing"}, code: 3, says: "set CC to a compiler that works"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "mark")
			got := bash(t, bare+c.script+"need go cc\necho went on", c.input, append(c.env, "MARK="+mark)...)
			assert.Equal(t, c.code, got.code, got.err)
			assert.Contains(t, got.err, c.says)
			if c.installs {
				assert.Equal(t, "went on\n", got.out)
				assert.FileExists(t, mark)
				assert.Contains(t, got.err, "installing golang-go gcc libc6-dev\n")
			} else {
				assert.Empty(t, got.out)
				assert.NoFileExists(t, mark)
			}
		})
	}
}

func TestInstallationThatDoesNotHelp(t *testing.T) {
	t.Parallel()
	failed := bash(t, bare+"install_command() { printf 'exit 100'; }\nneed go\necho went on", "", "CI=true")
	assert.Equal(t, 3, failed.code)
	assert.Empty(t, failed.out)
	assert.Contains(t, failed.err, "the installation failed")

	old := bash(t, bare+"install_command() { printf 'true'; }\nneed go cc\necho went on", "", "CI=true")
	assert.Equal(t, 3, old.code)
	assert.Empty(t, old.out)
	assert.Contains(t, old.err, "installed, and still missing:\n  - Go 1.21 or newer")
	assert.Contains(t, old.err, "https://go.dev/dl/")
}

// An older release may carry a newer Go under a versioned name.
func TestDebianPackageOfGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, found, candidate, want string }{
		{"nothing is known yet", "", "", "golang-go"},
		{"the usual package will do", "", "2:1.24~2", "golang-go"},
		{"the usual package is too old", "golang-1.19-go - Go", "2:1.19~1", ""},
		{"a versioned one will do", "golang-1.18-go - Go\ngolang-1.23-go - Go\ngolang-1.9-go - Go", "2:1.18~0", "golang-1.23-go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := bash(t, `apt-cache() { case $1 in search) printf '%s\n' "$FOUND" ;; policy) [ -z "$CANDIDATE" ] || printf '  Candidate: %s\n' "$CANDIDATE" ;; esac; }
apt_go`, "", "FOUND="+c.found, "CANDIDATE="+c.candidate)
			assert.Equal(t, outcome{0, c.want, ""}, got)
		})
	}
}

// The extension comes in a package for each version of PostgreSQL.
func TestDebianPackageOfPeriods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, installed, candidate, want string }{
		{"for the version that is there", "15", "17+278", "postgresql-15-periods"},
		{"for the version that is about to be installed", "", "17+278", "postgresql-17-periods"},
		{"nothing is known yet", "", "", "postgresql-[0-9]+-periods"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := bash(t, `postgresql_version() { printf '%s' "$INSTALLED"; }
apt-cache() { [ -z "$CANDIDATE" ] || printf 'postgresql:\n  Installed: (none)\n  Candidate: %s\n' "$CANDIDATE"; }
packages_for apt-get periods`, "", "INSTALLED="+c.installed, "CANDIDATE="+c.candidate)
			assert.Equal(t, outcome{0, c.want, ""}, got)
		})
	}
	for _, manager := range []string{"dnf", "apk", "brew"} {
		assert.Empty(t, bash(t, "packages_for "+manager+" periods", "").out, "no other manager has it")
	}
	assert.Contains(t, bash(t, "as_root() { true; }\nno_cluster() { printf 'quiet && '; }\ninstall_command apt-get postgresql-15-periods", "").out,
		"quiet && ", "it brings PostgreSQL along, whose package would start a server")
}

func TestPeriodsIsLookedForBesideTheServerThatTestsRun(t *testing.T) {
	t.Parallel()
	share := t.TempDir()
	const look = "postgresql_share() { printf '%s' \"$SHARE\"; }\nif find_tool periods; then echo found; else echo none; fi"
	assert.Equal(t, "none\n", bash(t, look, "", "SHARE="+share).out)
	assert.NoError(t, os.Mkdir(filepath.Join(share, "extension"), 0o700))
	assert.NoError(t, os.WriteFile(filepath.Join(share, "extension", "periods.control"), nil, 0o600))
	assert.Equal(t, "found\n", bash(t, look, "", "SHARE="+share).out)
}
