// Package node runs tasks on this host: programs of package supervisor in control
// groups of package cgroup.
//
//	Host.Launch ──▶ cgroup.Make, limits ──▶ supervisor: claim, gate, into the group, exec
//	                                             │
//	Task  Signal  STOP, CONT: the freezer        │ end: the rest of the group is
//	      Share   its quota                      ▼      killed, the group removed
//	      Use     what it has used             Wait
//
// A task is one process of an attempt, named by an [ID]. It is launched at most once,
// however often Launch is called, and its attempt file is in the node's own directory:
//
//	DIR/attempts/JOB.RANK/EPOCH-ATTEMPT
//
// The creator of that file decides whether this task runs on this node; Bar is the
// server's claim.
//
// # After a crash
//
// Open finds the groups of its predecessors. It adopts the tasks that a supervisor
// still runs, and kills and removes all other groups before it returns. Limits that the
// kernel enforces persist. Limits that signals enforce do not: the caller has to set
// share and pause again. DIR/groups.json records the parents of the groups, because a
// restarted process can be in another control group.
//
// # Processors
//
// [Host.Pin] claims processors for parts of the host, such as its virtual nodes;
// [Task.SetCPUs] moves a running task. Config.Processors confines all tasks.
//
// # Missing abilities
//
// A limit that this host cannot set is skipped, and Offers reports it: without memory
// control tasks can use all memory, without cpusets they run on any processor. If the
// host can set a limit but the kernel refuses it, the task does not run. If a controller
// vanishes under a running task, the task continues and its methods return
// cgroup.ErrVanished, except for its end.
package node
