package server

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// A job whose copies find no room waits for it, and does not use up its attempts.
func TestAJobWaitsForRoomForWhatItChanges(t *testing.T) {
	g := newGround(t)
	d := onSmallDisk(t, "services:\n  inline:"+ledgerYAML+`
    - name: signs
      doc: Adds a sign.
      args: [{name: c, type: file-inout}]
      command: [sh, -c, 'printf + >> "$0"', "{c}"]
      model: {fixed: {width: 4, time: 300s}}
`)
	d.run()
	busy := d.submit(newID(t), g.request("once", 4, true, 0)).GetId()
	d.ready(busy)
	content := bytes.Repeat([]byte("x"), diskSize/4)
	s := &testSite{client: d.client}
	f, err := s.upload(within(t), content, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := d.submit(newID(t), &droverv1.Request{Service: "signs", Arguments: arguments{"c": file(f)}}).GetId()
	// Room for everything but the copy.
	d.fill()
	if err := os.Truncate(filepath.Join(d.root, "ballast"), d.ballast()-int64(len(content))/2); err != nil {
		t.Fatal(err)
	}
	g.open()
	d.until(busy, done)
	d.logSays("copies of 10485760 bytes")
	if j := d.job(id); final(j) {
		t.Fatalf("%v", j)
	}
	d.free()
	if j := d.until(id, done, failed); j.GetState() != done || j.GetAttempt() > 2 || j.GetOutputs()[0].GetSizeBytes() != int64(len(content))+1 {
		t.Errorf("%v", j)
	}
}

// ballast is how much of the disk is filled.
func (d *smallDisk) ballast() int64 {
	d.t.Helper()
	info, err := os.Stat(filepath.Join(d.root, "ballast"))
	if err != nil {
		d.t.Fatal(err)
	}
	return info.Size()
}

// logSays waits until the server has noted something.
func (d *smallDisk) logSays(what string) {
	d.t.Helper()
	ctx := within(d.t)
	for ctx.Err() == nil {
		if text, _ := os.ReadFile(d.config + ".log"); bytes.Contains(text, []byte(what)) {
			return
		}
		pause(ctx, 20e6)
	}
	d.t.Fatalf("the server does not say %q", what)
}
