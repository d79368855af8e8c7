//go:build unix && !linux

package process

import osexec "os/exec"

// awaitLeader reaps the leader too: there is no portable way to wait without.
// The group is then killed by a number that nobody holds, and which the system
// hands out again only after all others.
func awaitLeader(cmd *osexec.Cmd) { _ = cmd.Wait() }

func leaderEnded(int) bool { return false }

func onlyDead(int) bool { return false }
