// Package docker starts servers in containers, by testcontainers-go: on Docker, or on Podman's service. DOCKER_HOST says
// where the engine is, if it is not at its usual socket.
//
// A container is removed when its server is stopped. Ryuk, a container that testcontainers-go starts beside it, removes it
// if this process is killed. If Ryuk is not permitted to run, TESTCONTAINERS_RYUK_DISABLED=true disables it; then a killed
// process leaves its container behind. If the engine is on this machine, only this machine can reach the servers' ports;
// otherwise everyone who can reach the engine's host can use the servers.
package docker
