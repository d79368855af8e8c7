package client

import (
	"slices"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// orderOut sets what a request says of other jobs, of retries, and of its only site.
func orderOut(m *droverv1.Request, r *request) {
	m.Site, m.Retries = r.site, int32(r.retries)
	for _, code := range r.retryOn {
		m.RetryOn = append(m.RetryOn, int32(code))
	}
	for _, d := range r.after {
		condition := droverv1.DependencyCondition_DEPENDENCY_CONDITION_DONE
		if d.Any {
			condition = droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY
		}
		m.After = append(m.After, &droverv1.Dependency{JobId: d.Job, Condition: condition})
	}
}

// orderIn sets what a job's record says of that.
func orderIn(out *Job, j *droverv1.Job) {
	r := j.GetRequest()
	out.OnlySite, out.Retries, out.Retried, out.Awaits = r.GetSite(), int(r.GetRetries()), int(j.GetRetried()), slices.Clone(j.GetAwaits())
	out.NodesAway = slices.Clone(j.GetNodesAway())
	for _, code := range r.GetRetryOn() {
		out.RetryOn = append(out.RetryOn, int(code))
	}
	for _, d := range r.GetAfter() {
		out.After = append(out.After, Dependency{Job: d.GetJobId(), Any: d.GetCondition() == droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY})
	}
}
