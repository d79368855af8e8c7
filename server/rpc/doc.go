// Package rpc is the network side of a server: the handlers of ServerService and
// PeerService, the routes for files over plain HTTP, and the client with which a
// server calls other servers.
//
//	ServerService ─┐                                      ┌─ other servers
//	PeerService   ─┼─▶ Server (an interface, by package   └─▲ PeerService,
//	plain HTTP    ─┘            server)  ──▶ Peers ─────────┘ ServerService
//
// It is the only package of the server that imports the generated messages. It
// translates between them and the types of packages site, catalogue and depot, and
// decides nothing.
package rpc
