// Package cgroup limits the processor time and the memory of groups of processes, and
// pauses, kills and measures them, with the best means of the host.
//
//	                 ┌ v2: drover-NAME/g-GROUP/{cpu.max, cgroup.freeze, cgroup.kill…}
//	Detect ──▶ Host ─┼ v1: one directory in each hierarchy that is needed
//	           │     └ signals: process groups, stopped and continued by one
//	           │                goroutine for all of them
//	          Make
//	           ▼
//	         Group   Procs, Add: its processes    SetShare, SetCPUs, SetMemory
//	                 Freeze, Thaw, Kill           Use: what it has used
//
// An [Ability] is an operation that a host may support, a [Way] its implementation.
// Each ability is detected separately, first in version 2 of control groups, because
// many hosts are mixed: the kernel assigns every controller to one version. Detect
// tries each ability on an empty group and does not rely on names of files;
// [Host.Offers] reports the result, and why no better way is possible. In this sense a virtual machine monitor's part
// in section 2.1 of Casanova, Stillwell and Vivien, "Dynamic Fractional Resource Scheduling vs.
// Batch Scheduling", is the kernel's here.
//
// # Shares
//
// A share is a quota: the processor time, summed over all processors, that a group can
// use in each period of 100 ms. The kernel accepts no quota below 1 ms. A share below
// 1/100 has a longer period, of up to a second, so 1/1000 ([MinShare]) is the least; a
// lower one is raised to it, and SetShare returns that. To use no processor time, a group
// is frozen.
//
// Without quotas a duty cycle stops and continues a group: by a freezer ([Duty]) if
// there is one, else by SIGSTOP and SIGCONT ([Signals]). Each turn measures its use, so
// the group gets its share whatever it does, and accumulates at most the share of one
// period while it sleeps. Duty cycles run in this process. When it is killed, groups stay
// as they are, including stopped ones, until another process finds or adds them again and
// sets their share, which continues them, or kills them.
//
// Measured processor time of one busy thread for its share, in percent of a processor (CGROUP_BENCH_TIME=3s go test
// -run - -bench Enforcement -benchtime 1x ./cgroup; 250 Hz kernel 6.18 on 2 processors that have nothing else to do):
//
//	share              5     10     20     30     50     70     80     90     95
//	v1 quota           5.04   9.98  19.94  29.92  49.90  70.09  79.98  90.03  95.10
//	duty by freezer    5.08   9.75  19.65  29.94  49.74  70.23  79.93  91.08  97.05
//	duty by signals    4.98   9.92  20.03  30.20  48.96  70.20  79.73  91.25  97.05
//
// A duty cycle gets less if other programs compete for the processors.
//
// A change of a share costs 3 µs of processor time, and 14 µs with 1,000 groups, because
// the kernel visits all of them: 1.4% of a processor for 1,000 changes each second
// (BenchmarkSetShare). Duty cycles by signals took 1.7% of a
// processor for 100 groups (BenchmarkDuty).
//
// # Exclusive processors
//
// ClaimCPUs claims processors that no other owner of groups with the same parent has
// claimed. Each is a lock on one byte of a file of the hierarchy, so a claim ends with
// its process and is visible in all namespaces. Owners with different parents, such as
// separate services, do not see each other's claims: an operator who runs several on one
// host divides the processors among them (AllowedCPUs= of systemd, taskset).
//
// # What signals cannot do
//
// A program that creates a process group or a session has left its group: it is not
// stopped, measured or killed. There is no memory limit and no choice of processors. Only
// the process that created a group knows it. Numbers of process groups are reused, so the
// identity is checked every second before a signal is sent. The shell that started a
// program may report that it was stopped.
//
// # Errors
//
// Every error is an [*Error]. Missing rights ([ErrNoRights]), a read-only hierarchy
// ([ErrReadOnly]) and a value that the kernel refuses ([ErrRefused]), such as more than
// the parent has, change nothing. A group or controller that has disappeared in use is
// [ErrVanished]; the host does not switch to another way then, because the old one may
// still hold processes: call Detect again. A memory limit kills, and [Use] counts it.
//
// # Where groups are created
//
// Below the group of this process, unless [Config.Parent] is set, so that its limits also
// apply to them. In version 2 a group that contains processes cannot enable controllers
// for its children: a service needs Delegate=yes of systemd and [Config.StepAside].
//
// # Why not a library
//
// We evaluated containerd/cgroups v3 and opencontainers/cgroups. Both are well maintained
// and made for container runtimes: they take a complete specification, and choose one
// version for all of it. Neither uses each controller where a mixed host has it, reports
// why one cannot be used, or has duty cycles; they could only write one line to each of
// ten files. They add 6 to 8 modules (D-Bus, and, by package, logrus, cilium/ebpf,
// runtime-spec) and 2.5 to 8 MB to a program.
package cgroup
