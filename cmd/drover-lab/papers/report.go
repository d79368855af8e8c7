package papers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// Report is a page about one paper, with pictures and tables as files. It is a function of
// its rows: the same rows make the same bytes.
type Report struct {
	Title  string // of report.md
	Blocks []Block
	More   []File                   // files beside those of the sections
	Index  func(files []string) any // report.json, given the names of all files
}

// Block is a part of a report's page.
type Block interface {
	markdown(b *strings.Builder, level int, folder string)
}

// Text is a block of Markdown.
type Text string

func (t Text) markdown(b *strings.Builder, _ int, _ string) {
	fmt.Fprintf(b, "%s\n\n", strings.TrimRight(string(t), "\n"))
}

// Heading is a heading at the report's level.
type Heading string

func (h Heading) markdown(b *strings.Builder, level int, _ string) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), h)
}

// Section is a picture and its tables.
type Section struct {
	Title    string
	File     string // the name of its files, without their ends
	Deeper   int    // levels below that of the report
	Chart    chart.Chart
	Table    *Table // its files
	Overview *Table // on the page
	Says     []string
	Empty    bool // nothing was measured
}

func (s *Section) markdown(b *strings.Builder, level int, folder string) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level+s.Deeper), s.Title)
	if s.Empty {
		b.WriteString("Not measured.\n\n")
		return
	}
	for _, line := range s.Says {
		fmt.Fprintf(b, "- %s\n", line)
	}
	if len(s.Says) > 0 {
		b.WriteString("\n")
	}
	if s.Chart != nil {
		fmt.Fprintf(b, "![%s](%s%s.svg)\n\n", s.Title, folder, s.File)
	}
	if s.Overview != nil {
		fmt.Fprintf(b, "%s\n", s.Overview.Markdown())
	}
}

// files returns the picture and the table of a section, none if it is empty.
func (s *Section) files() (files []File, err error) {
	if s.Empty {
		return nil, nil
	}
	if s.Chart != nil {
		svg, err := chart.SVG(s.Chart)
		if err != nil {
			return nil, err
		}
		png, err := chart.PNG(s.Chart)
		if err != nil {
			return nil, err
		}
		files = append(files, File{s.File + ".svg", svg}, File{s.File + ".png", png})
	}
	if s.Table != nil {
		csv, err := s.Table.CSV()
		if err != nil {
			return nil, err
		}
		files = append(files, File{s.File + ".csv", csv}, File{s.File + ".md", []byte(s.Table.Markdown())})
	}
	return files, nil
}

// Add adds blocks at the end.
func (r *Report) Add(blocks ...Block) { r.Blocks = append(r.Blocks, blocks...) }

// Sections returns the sections among the blocks.
func (r *Report) Sections() []*Section {
	var all []*Section
	for _, b := range r.Blocks {
		if s, ok := b.(*Section); ok {
			all = append(all, s)
		}
	}
	return all
}

// Markdown returns the report with headings from a level on. folder is the path of its
// pictures from the page that it becomes a part of, with a slash at the end.
func (r *Report) Markdown(level int, folder string) string {
	b := &strings.Builder{}
	for _, block := range r.Blocks {
		block.markdown(b, level, folder)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// File is a file of a report.
type File struct {
	Name string
	Data []byte
}

// Files draws the pictures and returns all files of the report: those of its sections,
// More, report.md and report.json.
func (r *Report) Files() ([]File, error) {
	var files []File
	for _, s := range r.Sections() {
		some, err := s.files()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.File, err)
		}
		files = append(files, some...)
	}
	page := "# " + r.Title + "\n\n" + r.Markdown(2, "")
	files = append(append(files, r.More...), File{"report.md", []byte(page)})
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
	}
	var index bytes.Buffer
	enc := json.NewEncoder(&index)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r.Index(names)); err != nil {
		return nil, fmt.Errorf("report.json: %w", err)
	}
	return append(files, File{"report.json", index.Bytes()}), nil
}

// Write writes all files to a folder, which it makes if necessary, and returns their
// names.
func (r *Report) Write(dir string) ([]string, error) {
	files, err := r.Files()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	var names []string
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		names = append(names, f.Name)
	}
	return names, nil
}

// Marks returns the two lines of a page that the report about a paper stands between.
func Marks(paper string) (begin, end string) {
	return "<!-- begin: drover-lab repro " + paper + " -->\n", "<!-- end: drover-lab repro " + paper + " -->\n"
}

// Include returns a page with a report about a paper between its marks.
func Include(page []byte, paper, text string) ([]byte, error) {
	begin, end := Marks(paper)
	before, rest, begun := bytes.Cut(page, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !begun || !ended {
		return nil, fmt.Errorf("the page has no place for the report, accepted: the two lines\n%s%s", begin, end)
	}
	return bytes.Join([][]byte{before, []byte(begin + "\n" + text + "\n" + end), after}, nil), nil
}
