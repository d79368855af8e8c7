#!/usr/bin/env bash
# Installs what package slurmtest needs, where it is missing and can be: on Debian,
# as root. It never fails: tests that find no Slurm say that they were skipped.
set -uo pipefail
PATH="$PATH:/usr/sbin:/sbin"

for program in munged slurmctld slurmd sbatch; do
	command -v "$program" > /dev/null && continue
	if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
		echo "slurmtest: no $program here, and no way to install it: tests on real clusters will be skipped" >&2
		exit 0
	fi
	echo "slurmtest: installing slurm-wlm and munge" >&2
	apt-get update -qq &&
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge > /dev/null ||
		echo "slurmtest: Slurm could not be installed: tests on real clusters will be skipped" >&2
	exit 0
done
