package server

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
	"github.com/seed-9b8f70bb/drover/batch/slurm"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// externals is the table of batch systems that Drover does not implement, by the
// batch.type of the configuration: one line each. This is the only file that knows them.
var externals = map[BatchType]externalKind{
	Slurm: slurmKind,
}

var slurmKind = externalKind{
	title: "Slurm", launchHint: "have the program call srun",
	environment: solo.System{Prefix: "SLURM", Nodes: "SLURM_JOB_NODELIST", ID: "SLURM_JOB_ID"},
	open:        openSlurm, check: checkSlurm,
}

// openSlurm makes a cluster of the configuration.
func openSlurm(b *Batch) externalCluster {
	return slurm.New(slurm.Config{
		Conf: b.Conf, Dir: b.Commands, Timeout: b.Timeout, Partition: b.Partition, Account: b.Account, QOS: b.QOS,
		Extra: b.Extra, Interval: b.Interval,
	})
}

// checkSlurm reports problems of the keys that only Slurm has.
func checkSlurm(b *Batch, bad func(key string, value any, accepted string)) {
	for key, v := range map[string]string{"partition": b.Partition, "account": b.Account, "qos": b.QOS} {
		if strings.ContainsAny(v, " \t\n\x00") {
			bad("batch."+key, v, "a word")
		}
	}
	for i, o := range b.Extra {
		key := fmt.Sprintf("batch.extra[%d]", i)
		if !strings.HasPrefix(o, "-") || strings.ContainsAny(o, "\n\x00") {
			bad(key, o, "an option of sbatch, in one word: --mem=2G")
		} else if why := catalogue.Overruled(o); why != "" {
			bad(key, o, "an option that a site may add: "+why)
		}
	}
}
