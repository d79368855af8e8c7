package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/reallocation"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// reproReallocationCmd is drover-lab repro reallocation.
type reproReallocationCmd struct {
	Results   string `placeholder:"DIR" help:"Results of the campaign paper; missing experiments are run. Default: campaign-paper."`
	Questions string `placeholder:"DIR" help:"Results of the campaigns about open questions, one folder each; missing experiments are run. Or the results of the campaign full, as they are. Default: leave the questions open."`
	Out       string `default:"repro-reallocation" placeholder:"DIR" help:"Write the report there: figures, tables, report.md, report.json."`
	Doc       string `placeholder:"FILE" help:"Also write the report into this page, between its two marks."`
	Quick     bool   `help:"Run a small part of each campaign."`
	Partial   bool   `help:"Run nothing: report the rows there are; each figure says how many are missing."`
	Jobs      *int   `placeholder:"N" help:"Experiments at a time. Default: one for each core."`
}

// Run makes the report.
func (c *reproReallocationCmd) Run(a *app) error {
	workers, err := cmdline.CampaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	m := &reproMaker{app: a, flags: c, workers: workers, rows: &reallocation.Rows{}}
	r, err := m.report()
	if err != nil {
		return err
	}
	return publication{"reallocation", c.Out, c.Doc}.publish(a, r, func(files int) error {
		return printRepro(a.Stdout, r, files, c.Out)
	})
}

// printRepro prints what does not hold and what the questions' answers are.
func printRepro(w io.Writer, r *reallocation.Report, files int, dir string) error {
	n := map[papers.Verdict]int{}
	var b strings.Builder
	for i := range r.Results {
		c := &r.Results[i]
		if n[c.Verdict]++; c.Verdict == papers.Differs {
			fmt.Fprintf(&b, "differs (%s): %s\n  measured: %s\n", c.Of, c.Says, c.Measured)
		}
	}
	for i := range r.Questions {
		if q := &r.Questions[i]; len(q.Says) > 0 {
			fmt.Fprintf(&b, "%s\n  %s\n", q.Asks, strings.ReplaceAll(strings.Join(q.Says, "\n  "), "**", ""))
		}
	}
	_, err := fmt.Fprintf(w, "%s%d claims: %d hold, %d differ, %d not measured; %d files in %s\n",
		b.String(), len(r.Results), n[papers.Holds], n[papers.Differs], n[papers.Open], files, dir)
	return err
}

// reproMaker gathers rows, and runs the experiments that lack.
type reproMaker struct {
	app     *app
	flags   *reproReallocationCmd
	workers int
	rows    *reallocation.Rows
}

func (m *reproMaker) report() (*reallocation.Report, error) {
	set, cuts, err := m.load("paper")
	if err != nil {
		return nil, err
	}
	o := reallocation.Options{Partial: m.flags.Partial}
	o.Plan.Tuning = reallocation.Paper.Tuning
	for _, s := range set.Scenarios {
		o.Plan.Scenarios = append(o.Plan.Scenarios, s.Name)
	}
	o.Plan.Seeds = set.Seeds
	if cuts != nil {
		o.Remark = "quick, " + strings.Join(cuts, ", ")
	}
	if err := m.paper(set, o.Plan); err != nil {
		return nil, err
	}
	if m.flags.Questions != "" {
		if err := m.questions(); err != nil {
			return nil, err
		}
	}
	return reallocation.NewReport(m.rows, o)
}

// load returns a campaign, or the small part of it.
func (m *reproMaker) load(name string) (*campaign.Campaign, []string, error) {
	set, err := campaign.Load(name)
	if err != nil || !m.flags.Quick {
		return set, nil, err
	}
	set, cuts := set.Quick()
	return set, cuts, nil
}

// paper sees that the rows of the paper's campaign are there. Results that have
// them all may be of a greater campaign.
func (m *reproMaker) paper(set *campaign.Campaign, plan reallocation.Plan) error {
	dir := m.flags.Results
	if dir == "" {
		if dir = "campaign-paper"; m.flags.Quick {
			dir += "-quick"
		}
	}
	err := m.read(dir)
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && (!none || m.flags.Partial) {
		return err
	}
	lacking := m.rows.Lacking(plan)
	if len(lacking) == 0 || m.flags.Partial {
		return nil
	}
	if err := m.run(set, dir); err != nil {
		if _, ok := errors.AsType[*campaign.MismatchError](err); ok && !none {
			return fmt.Errorf("%w (--partial reports what there is); %w",
				&reallocation.LackingError{Lacking: lacking, Of: plan.Experiments()}, err)
		}
		return err
	}
	return m.read(dir)
}

// questions sees that the rows of the questions' campaigns are there.
func (m *reproMaker) questions() error {
	dir := m.flags.Questions
	if err := m.read(dir); !errors.Is(err, fs.ErrNotExist) {
		return err // one campaign's results, as they are
	}
	names, texts, err := reallocation.Campaigns()
	if err != nil {
		return err
	}
	for i, name := range names {
		at := filepath.Join(dir, name)
		if !m.flags.Partial {
			set, err := m.question(at+".yaml", texts[i])
			if err != nil {
				return err
			}
			if err := m.run(set, at); err != nil {
				return err
			}
		}
		if err := m.read(at); err != nil && !(m.flags.Partial && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// question loads the campaign file of a folder. It writes text to the file first, so that
// the folder names the campaign of its results; an existing file is kept and can differ.
func (m *reproMaker) question(path string, text []byte) (*campaign.Campaign, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("--questions: %w", err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, fmt.Errorf("--questions: %w", err)
		}
	}
	set, _, err := m.load(path)
	return set, err
}

// run runs what is not done yet of a campaign.
func (m *reproMaker) run(set *campaign.Campaign, dir string) error {
	begin := time.Now()
	show := &cmdline.CampaignProgress{Process: m.app.Process, Dir: dir}
	clock := func() time.Duration { return time.Since(begin) }
	_, err := campaign.Run(m.app.ctx, set, campaign.Options{
		Dir: dir, Workers: m.workers, Clock: clock, Progress: func(p campaign.Progress) { show.Report(clock(), p) },
	})
	show.Finish()
	return err
}

// read adds the rows of a folder.
func (m *reproMaker) read(dir string) error {
	path := filepath.Join(dir, campaign.ResultsName)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return m.rows.Read(bytes.NewReader(data), path)
}
