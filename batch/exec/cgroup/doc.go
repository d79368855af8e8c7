// Package cgroup holds groups of processes to shares of the processors and to
// amounts of memory, pauses, ends and measures them, as well as the host can.
//
//	                 ┌ v2: drover-NAME/g-GROUP/{cpu.max, cgroup.freeze, cgroup.kill…}
//	Detect ──▶ Host ─┼ v1: one directory in each hierarchy that is needed
//	           │     └ signals: process groups, stopped and continued by one
//	           │                goroutine for all of them
//	          Make
//	           ▼
//	         Group   Procs, Add: who is in it     SetShare, SetCPUs, SetMemory
//	                 Freeze, Thaw, Kill           Use: what it has used
//
// An [Ability] is one thing that a host may be able to do, a [Way] how it does
// it. Each ability is looked for by itself, in the second version of control
// groups first, because many hosts are mixed: the kernel gives every controller
// to one of the versions. Detect tries each on an empty group and does not
// believe names of files; [Host.Offers] says what came of it, and why no better
// way would do. In this sense a virtual machine monitor's part in section 2.1 of
// Casanova, Stillwell and Vivien, "Dynamic Fractional Resource Scheduling vs.
// Batch Scheduling", is the kernel's here.
//
// # Shares
//
// A share is a quota: it may run for a time in each period of 100 ms, all its
// processors together. The kernel accepts no quota below 1 ms. A share below
// 1/100 has a longer period, of up to a second, so that 1/1000 ([MinShare]) is the
// least; whoever is set to less gets that much, and SetShare says so. Nothing at
// all is a freeze.
//
// Without a quota a group is stopped and continued: by a freezer ([Duty]) if
// there is one, else by SIGSTOP and SIGCONT ([Signals]). How much it has used is
// measured at each turn, so that it gets its share whatever it does, and no more
// than a period's share is saved up while it waits. Such cycles live in this
// process. When it is killed, groups stay as they are, stopped ones too, until
// somebody finds or adds them again and sets their share, which lets them go on,
// or kills them.
//
// How near to its share one thread that always wants to run was held, in percent
// of a processor (CGROUP_BENCH_TIME=3s go test -run - -bench Enforcement -benchtime 1x
// ./cgroup; 250 Hz kernel 6.18 on 2 processors that have nothing else to do):
//
//	share              5     10     20     30     50     70     80     90     95
//	v1 quota           5.04   9.98  19.94  29.92  49.90  70.09  79.98  90.03  95.10
//	duty by freezer    5.08   9.75  19.65  29.94  49.74  70.23  79.93  91.08  97.05
//	duty by signals    4.98   9.92  20.03  30.20  48.96  70.20  79.73  91.25  97.05
//
// Where other programs want the processors as well, a duty cycle gets less.
//
// To set another share costs 3 µs of processor time, and 14 µs where there are
// 1,000 groups, because the kernel looks at all of them: 1.4% of a processor to set
// 1,000 each second (BenchmarkSetShare). Duty cycles by signals took 1.7% of a
// processor for 100 groups (BenchmarkDuty).
//
// # Processors of one's own
//
// ClaimCPUs finds processors that no other owner of groups at the same place has:
// each is a byte of a file of the hierarchy, locked by who has it, so that a claim
// ends with its process and holds across namespaces. Owners at other places, as
// services with groups of their own, do not hear of each other: whoever runs several
// on one host divides it among them (AllowedCPUs= of systemd, taskset).
//
// # What signals cannot do
//
// A program that makes a process group or a session of its own has left its
// group: nobody stops, measures or kills it. There is no limit of memory and no
// choice of processors. A group is known to the process that made it only. The
// number of a process group is looked at every second before it is signalled, as
// numbers are used again. The shell that started a program may say that it has
// been stopped.
//
// # Bad days
//
// Every error is an [*Error]. No rights ([ErrNoRights]), a read-only hierarchy
// ([ErrReadOnly]) and a value that the kernel does not take ([ErrRefused]), such as
// more than the group above has, change nothing. A group or controller that has
// gone while the host was in use is [ErrVanished]; no other way is chosen then,
// because processes may still be held by it: detect anew. A limit of memory kills,
// and [Use] counts it.
//
// # Where groups are made
//
// Below the group of this process, unless [Config.Parent] says otherwise, so that
// whatever limits this process also limits them. In the second version a group
// that has processes cannot hand on controllers: a service wants Delegate=yes of
// systemd and [Config.StepAside].
//
// # Why not a library
//
// containerd/cgroups v3 and opencontainers/cgroups were looked at. Both are well
// kept, and made for runtimes of containers: they take a whole specification, and
// choose one version for all of it. None takes each controller where a mixed host
// has it, says why one may not be used, or has duty cycles; what would be left for
// them is to write one line to each of ten files. They add 6 to 8 modules (D-Bus,
// and, by package, logrus, cilium/ebpf, runtime-spec) and 2.5 to 8 MB to a program.
package cgroup
