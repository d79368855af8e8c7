package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/client"
)

// needsView is what each task of a job was said to need, and was found to.
type needsView struct {
	DeclaredCPU    float64 `json:"declared_cpu"`
	DeclaredMemory int64   `json:"declared_memory_bytes,omitempty"`
	MeasuredCPU    float64 `json:"measured_cpu,omitempty"`
	MeasuredMemory int64   `json:"measured_memory_bytes,omitempty"`
}

// cpuOf tells of the CPU need of each task: nothing where all of it is a whole processor
// as of any job.
func cpuOf(n *client.TaskNeeds) string {
	switch {
	case n == nil || n.MeasuredCPU == 0 && n.DeclaredCPU == 1:
		return ""
	case n.MeasuredCPU == 0:
		return fmt.Sprintf("%.2f of a processor declared for each task", n.DeclaredCPU)
	}
	return fmt.Sprintf("%.2f of a processor declared for each task, %.2f measured", n.DeclaredCPU, n.MeasuredCPU)
}

// memoryOf tells of the memory of each task.
func memoryOf(n *client.TaskNeeds) string {
	switch {
	case n == nil || n.MeasuredMemory == 0 && n.DeclaredMemory == 0:
		return ""
	case n.MeasuredMemory == 0:
		return mebibytes(n.DeclaredMemory) + " declared for each task"
	case n.DeclaredMemory == 0:
		return "none declared, " + mebibytes(n.MeasuredMemory) + " used at most by a task"
	}
	return fmt.Sprintf("%s declared for each task, %s used at most by one", mebibytes(n.DeclaredMemory), mebibytes(n.MeasuredMemory))
}
