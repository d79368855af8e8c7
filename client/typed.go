package client

// Text is the Text of an argument of a service whose description is at hand: nobody is
// asked for it when the request is submitted.
func (s *Service) Text(name, text string) Arg {
	about := s.Argument(name)
	if about != nil && about.Type == TypeFileOut {
		return OutputTo(name, text)
	}
	return value(name, parse(text, about))
}
