package slurmd

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// text is the cluster's slurm.conf. Scheduling is as quick as it can be: backfill
// every 2 seconds, and an attempt to start jobs at every event.
func (c *Cluster) text(ctx context.Context) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	ports := make([]string, c.Nodes+1) // of the controller, and of the nodes
	for i := range ports {
		if ports[i], err = port(ctx); err != nil {
			return "", err
		}
	}
	host, _, _ = strings.Cut(host, ".")
	in := func(parts ...string) string { return filepath.Join(append([]string{c.dir}, parts...)...) }
	pairs := [][2]string{
		{"ClusterName", c.Name},
		{"SlurmctldHost", host + "(127.0.0.1)"},
		{"SlurmctldPort", ports[0]},
		{"SlurmUser", "root"},
		{"SlurmdUser", "root"},
		{"AuthType", "auth/munge"},
		{"CredType", "cred/munge"},
		{"AuthInfo", "socket=" + c.socket + ",cred_expire=120"},
		{"CommunicationParameters", "NoInAddrAny,NoCtldInAddrAny"},
		{"StateSaveLocation", in("state")},
		{"SlurmdSpoolDir", in("spool", "%n")},
		{"SlurmctldPidFile", in("run", "slurmctld.pid")},
		{"SlurmdPidFile", in("run", "slurmd-%n.pid")},
		{"SlurmctldLogFile", in("log", "slurmctld.log")},
		{"SlurmdLogFile", in("log", "slurmd-%n.log")},
		{"SlurmctldDebug", "info"},
		{"SlurmdDebug", "info"},
		{"SwitchType", "switch/none"},
		{"MpiDefault", "none"},
		{"ProctrackType", "proctrack/linuxproc"},
		{"TaskPlugin", "task/none"},
		{"JobAcctGatherType", "jobacct_gather/none"},
		{"AccountingStorageType", "accounting_storage/none"},
		{"AccountingStoreFlags", "job_comment"},
		{"JobCompType", "jobcomp/filetxt"},
		{"JobCompLoc", c.JobComp()},
		{"SelectType", "select/cons_tres"},
		{"SelectTypeParameters", "CR_CPU"},
		{"PriorityType", "priority/basic"},
		{"SchedulerType", "sched/backfill"},
		{"SchedulerParameters", "bf_interval=2,bf_resolution=1,bf_window=10080,bf_continue,batch_sched_delay=0,sched_interval=5,bf_max_job_test=1000,default_queue_depth=1000"},
		{"SlurmdParameters", "config_overrides"},
		{"ReturnToService", "2"},
		{"MinJobAge", strconv.Itoa(c.MinJobAge)},
		{"MaxJobCount", "20000"},
		{"InactiveLimit", "0"},
		{"KillWait", "3"},
		{"OverTimeLimit", "0"},
		{"EnforcePartLimits", "ALL"},
		{"Waittime", "0"},
		{"SlurmctldTimeout", "30"},
		{"SlurmdTimeout", "60"},
		{"MessageTimeout", "10"},
		{"JobRequeue", "0"},
		{"MailProg", "/bin/true"},
		{"PropagateResourceLimits", "NONE"},
		{"GetEnvTimeout", "2"},
	}
	var b strings.Builder
	own := make(map[string]bool)
	for _, line := range c.Lines {
		key, _, _ := strings.Cut(line, "=")
		own[strings.ToLower(key)] = true
		fmt.Fprintln(&b, line)
	}
	for _, p := range pairs {
		if !own[strings.ToLower(p[0])] {
			fmt.Fprintf(&b, "%s=%s\n", p[0], p[1])
		}
	}
	for i := range c.Nodes {
		fmt.Fprintf(&b, "NodeName=%s NodeAddr=127.0.0.1 NodeHostname=%s Port=%s CPUs=%d RealMemory=1024 State=UNKNOWN\n",
			c.node(i), host, ports[i+1], c.CPUs)
	}
	if c.Partitions == nil {
		fmt.Fprintln(&b, "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 OverSubscribe=NO State=UP")
	}
	for _, p := range c.Partitions {
		fmt.Fprintln(&b, p)
	}
	return b.String(), nil
}

// port returns one that the cluster can come back to.
func port(ctx context.Context) (string, error) {
	address, err := freeport.Find(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	return port, err
}
