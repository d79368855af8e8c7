package pack

type matching struct{}
