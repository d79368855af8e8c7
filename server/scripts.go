package server

// writeScripts writes the batch scripts of services and logs the notes about them.
func (s *Server) writeScripts() error {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil {
			continue
		}
		for _, note := range service.Script.Notes {
			s.log.Warn("batch script", "service", service.Name, "note", note)
		}
		if err := s.data.WriteScript(service); err != nil {
			return err
		}
	}
	return nil
}
