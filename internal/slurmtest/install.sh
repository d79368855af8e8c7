#!/usr/bin/env bash
# Installs Slurm for package slurmtest on Debian, as root. It never fails: tests that find no
# Slurm, or no accounting, are skipped with a message.
set -uo pipefail
PATH="$PATH:/usr/sbin:/sbin"

# want PACKAGES WHAT PROGRAM... installs packages unless all programs are there.
want() {
	local packages=$1 what=$2
	shift 2
	for program in "$@"; do
		command -v "$program" > /dev/null && continue
		if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
			echo "slurmtest: $program is missing and cannot be installed: tests on $what will be skipped" >&2
			return
		fi
		echo "slurmtest: installing $packages" >&2
		# shellcheck disable=SC2086 # several words
		{ [ -n "$updated" ] || apt-get update -qq; } && updated=yes &&
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages > /dev/null ||
			echo "slurmtest: $packages could not be installed: tests on $what will be skipped" >&2
		return
	done
}

updated=
want "slurm-wlm munge" "real clusters" munged slurmctld slurmd sbatch
# 8 MB: the core of the database has no service that would be started.
want "slurmdbd mariadb-server-core" "accounting" slurmdbd mariadbd
