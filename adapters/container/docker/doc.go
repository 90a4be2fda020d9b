// Package docker starts servers in containers, by testcontainers-go: on Docker, or on Podman's service. DOCKER_HOST says
// where the engine is, if it is not at its usual socket.
//
// A container is removed when its server is stopped. Ryuk, a container that testcontainers-go starts beside it, removes
// it should this process be killed. Where Ryuk may not run, TESTCONTAINERS_RYUK_DISABLED=true leaves it out, and a killed
// process leaves its container. Ports of an engine on this machine are for this machine alone; at an engine elsewhere,
// whoever reaches its ports can use the servers.
package docker
