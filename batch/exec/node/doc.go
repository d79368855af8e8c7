// Package node runs tasks on this host: programs of package supervisor in control
// groups of package cgroup.
//
//	Host.Launch ──▶ cgroup.Make, limits ──▶ supervisor: claim, gate, into the group, exec
//	                                             │
//	Process  Signal  STOP, CONT: the freezer     │ end: whoever is left in the group
//	         Share   its quota                   ▼      is killed, the group removed
//	         Use     what it has used          Wait
//
// A task is one process of an attempt; a [ID] names it. It is launched once, however
// often it is asked for, and its attempt file lies in the node's own directory:
//
//	DIR/attempts/JOB.RANK/EPOCH-ATTEMPT
//
// So whoever makes that file decides whether this task runs on this node; Bar is the
// server's claim.
//
// # After a crash
//
// Open finds the groups of its predecessors again. What a supervisor still runs is
// taken over; whatever else is in a group is killed, and the group removed, before
// Open returns. What a task was held to holds on where the kernel does it, and is
// gone where signals do: its share and its pause are to be set again. Where groups were
// made is in DIR/groups.json, because a process that starts again may be in another one.
//
// # Processors
//
// [Host.Pin] claims processors for parts of the host, as its virtual nodes are;
// [Task.SetCPUs] moves a task that runs. Config.Processors confines all tasks.
//
// # What is not offered
//
// A limit that this host cannot set is left out, and Offers says so: without memory
// control tasks have all there is, without cpusets they run anywhere. A limit that it
// can set and that is refused keeps the task from running. A controller that vanishes
// under a task that runs leaves it as it is: what is asked of it then is
// cgroup.ErrVanished, but for its end.
package node
