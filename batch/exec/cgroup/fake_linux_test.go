package cgroup

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fake simulates the kernel's rules for control groups, for kinds of hosts other than this
// one.
type fake struct {
	mu     sync.Mutex
	files  map[string]string // of all groups, by path
	groups map[string]bool
	v2     string           // where the second version is mounted
	fail   map[string]error // by a part of the path
	writes []string         // "path=text"
}

var (
	filesV2 = map[string]string{
		"cgroup.procs": "", "cgroup.subtree_control": "", "cgroup.freeze": "0", "cgroup.kill": "",
		"cgroup.events": "populated 0\nfrozen 0\n", "cpu.stat": "usage_usec 0\n",
	}
	// The files of each controller. A group has them if its parent enables the controller.
	filesOf = map[string]map[string]string{
		"cpu":    {"cpu.max": "max 100000"},
		"cpuset": {"cpuset.cpus": ""},
		"memory": {
			"memory.max": "max", "memory.current": "5000", "memory.stat": "anon 1\ninactive_file 1000\n",
			"memory.events": "oom 0\noom_kill 2\n",
		},
	}
	filesV1 = map[string]map[string]string{
		"cpu":     {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000", "cpu.stat": "nr_throttled 0\n"},
		"cpuacct": {"cpuacct.usage": "0"},
	}
)

// newFake returns a host with cgroup version 2 with those controllers mounted at /v2, this
// process in one of its groups, and the directory proc that describes it.
func newFake(t *testing.T, controllers ...string) (f *fake, proc string) {
	t.Helper()
	f = &fake{files: map[string]string{}, groups: map[string]bool{}, v2: "/v2", fail: map[string]error{}}
	f.groups["/v2"] = true
	for file, text := range filesV2 {
		f.files["/v2/"+file] = text
	}
	f.files["/v2/cgroup.controllers"] = strings.Join(controllers, " ")
	f.files["/v2/cgroup.subtree_control"] = strings.Join(controllers, " ")
	if err := f.mkdir("/v2/site.service"); err != nil {
		t.Fatal(err)
	}
	f.files["/v2/site.service/cgroup.procs"] = "1\n"
	proc = t.TempDir()
	if err := os.Mkdir(filepath.Join(proc, "self"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.surroundings(t, proc, "41 31 0:38 / /v2 rw - cgroup2 cgroup2 rw\n", "0::/site.service\n")
	return f, proc
}

func (f *fake) surroundings(t *testing.T, proc, mounts, member string) {
	t.Helper()
	for name, text := range map[string]string{"mountinfo": mounts, "cgroup": member} {
		if err := os.WriteFile(filepath.Join(proc, "self", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fake) broken(op, path string) error {
	for part, err := range f.fail {
		if strings.Contains(op+" "+path, part) {
			return &fs.PathError{Op: op, Path: path, Err: err}
		}
	}
	return nil
}

func (f *fake) read(path string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.broken("read", path); err != nil {
		return "", err
	}
	text, ok := f.files[path]
	if !ok {
		return "", &fs.PathError{Op: "read", Path: path, Err: syscall.ENOENT}
	}
	return text, nil
}

func (f *fake) write(path, text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.broken("write", path); err != nil {
		return err
	}
	if _, ok := f.files[path]; !ok {
		return &fs.PathError{Op: "write", Path: path, Err: syscall.ENOENT}
	}
	dir, file := filepath.Dir(path), filepath.Base(path)
	switch {
	case file == "cgroup.subtree_control":
		// Except for the root, a group with processes cannot enable controllers.
		if dir != f.v2 && f.files[dir+"/cgroup.procs"] != "" {
			return &fs.PathError{Op: "write", Path: path, Err: syscall.EBUSY}
		}
		f.files[path] += " " + strings.TrimPrefix(text, "+")
		text = f.files[path]
		f.handOn(dir)
	case file == "cgroup.procs" && dir != f.v2:
		// This process was in the group of the service.
		f.files[f.v2+"/site.service/cgroup.procs"] = ""
	}
	f.files[path] = text
	f.writes = append(f.writes, path+"="+text)
	return nil
}

// handOn creates the files of the controllers in the groups below dir.
func (f *fake) handOn(dir string) {
	on := strings.Fields(f.files[dir+"/cgroup.subtree_control"])
	for group := range f.groups {
		if filepath.Dir(group) != dir {
			continue
		}
		f.files[group+"/cgroup.controllers"] = strings.Join(on, " ")
		for _, controller := range on {
			for file, text := range filesOf[controller] {
				if _, ok := f.files[group+"/"+file]; !ok {
					f.files[group+"/"+file] = text
				}
			}
		}
	}
}

func (f *fake) mkdir(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.broken("mkdir", path); err != nil {
		return err
	}
	switch {
	case f.groups[path]:
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.EEXIST}
	case !f.groups[filepath.Dir(path)]:
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOENT}
	}
	f.groups[path] = true
	if strings.HasPrefix(path, f.v2+"/") {
		for file, text := range filesV2 {
			f.files[path+"/"+file] = text
		}
		f.handOn(filepath.Dir(path))
		return nil
	}
	for file, text := range filesV1[strings.Split(path, "/")[2]] {
		f.files[path+"/"+file] = text
	}
	f.files[path+"/cgroup.procs"] = ""
	return nil
}

func (f *fake) rmdir(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.broken("rmdir", path); err != nil {
		return err
	}
	if !f.groups[path] {
		return &fs.PathError{Op: "rmdir", Path: path, Err: syscall.ENOENT}
	}
	for group := range f.groups {
		if filepath.Dir(group) == path {
			return &fs.PathError{Op: "rmdir", Path: path, Err: syscall.EBUSY}
		}
	}
	delete(f.groups, path)
	for file := range f.files {
		if filepath.Dir(file) == path {
			delete(f.files, file)
		}
	}
	return nil
}

func (f *fake) dirs(path string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.groups[path] {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	}
	var names []string
	for group := range f.groups {
		if filepath.Dir(group) == path {
			names = append(names, filepath.Base(group))
		}
	}
	slices.Sort(names)
	return names, nil
}
