package submission

// Inquiry puts a question to the agents until one answers. Every method takes the
// present time and returns what to do next: Ask, Pause, Done or Fail.
type Inquiry struct {
	cfg   Config
	retry retry
	agent int // asked last
	asked int // agents asked since the last pause
}

// NewInquiry returns an inquiry.
func NewInquiry(cfg Config) *Inquiry {
	return &Inquiry{cfg: cfg, retry: retry{patience: cfg.Patience}}
}

// Start begins.
func (q *Inquiry) Start(Time) Action { return q.ask(0) }

// Answered takes an agent's answer.
func (q *Inquiry) Answered(Time) Action { return Action{Do: Done} }

// Failed takes the failure of an Ask. A refusal of one agent would be the refusal of
// all.
func (q *Inquiry) Failed(now Time, f Failure) Action {
	if f.Kind == Refused {
		return Action{Do: Fail, Err: f.Err}
	}
	q.retry.failed(now)
	if q.asked < q.cfg.Agents {
		return q.ask((q.agent + 1) % q.cfg.Agents)
	}
	until, ok := q.retry.until(now)
	if !ok {
		return Action{Do: Fail, Err: q.retry.gaveUp(now, "", Target{}, f.Err)}
	}
	return Action{Do: Pause, Until: until, Err: f.Err}
}

// Awake takes the end of a Pause.
func (q *Inquiry) Awake(Time) Action {
	q.asked = 0
	return q.ask((q.agent + 1) % q.cfg.Agents)
}

func (q *Inquiry) ask(agent int) Action {
	q.agent = agent
	q.asked++
	return Action{Do: Ask, Agent: agent}
}
