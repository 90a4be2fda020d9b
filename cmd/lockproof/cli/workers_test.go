package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestWorkersOnKubernetes checks the example for Kubernetes. It must be an indexed Job, and lockproof must accept its
// command line.
func TestWorkersOnKubernetes(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "workers", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			CompletionMode          string `yaml:"completionMode"`
			Completions             int
			Parallelism             int
			BackoffLimitPerIndex    int `yaml:"backoffLimitPerIndex"`
			TTLSecondsAfterFinished int `yaml:"ttlSecondsAfterFinished"`
			Template                struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					RestartPolicy                 string `yaml:"restartPolicy"`
					TerminationGracePeriodSeconds int    `yaml:"terminationGracePeriodSeconds"`
					Containers                    []struct {
						Name, Image  string
						Command      []string
						Resources    struct{ Requests, Limits map[string]string }
						VolumeMounts []struct {
							Name      string
							MountPath string `yaml:"mountPath"`
							ReadOnly  bool   `yaml:"readOnly"`
						} `yaml:"volumeMounts"`
					}
					Volumes []struct {
						Name   string
						Secret struct {
							SecretName string `yaml:"secretName"`
						}
					}
				}
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || job.Spec.Completions != job.Spec.Parallelism {
		t.Errorf("%+v: expected an indexed Job whose workers all run at once", job)
	}
	if pod.RestartPolicy != "Never" || len(pod.Containers) != 1 || len(pod.Volumes) != 1 || pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name {
		t.Fatalf("%+v: expected one container with its credentials", pod)
	}
	command := pod.Containers[0].Command
	taken(t, command)
	if creds := after(t, command, "--creds"); !strings.HasPrefix(creds, pod.Containers[0].VolumeMounts[0].MountPath+"/") {
		t.Errorf("the credentials %s are not in the volume", creds)
	}
}

// TestWorkersUnderSystemd checks the example for systemd. The service must be restarted when it ends, and lockproof
// must accept its command line.
func TestWorkersUnderSystemd(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "workers", "lockproof-worker.service"))
	if err != nil {
		t.Fatal(err)
	}
	unit, section := make(map[string]string), ""
	for _, line := range strings.Split(string(data), "\n") {
		switch name, value, ok := strings.Cut(line, "="); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line
		case ok && section != "":
			unit[section+name] = value
		default:
			t.Errorf("%q is no setting", line)
		}
	}
	for name, want := range map[string]string{"[Service]Restart": "always", "[Install]WantedBy": "multi-user.target", "[Service]DynamicUser": "yes"} {
		if unit[name] != want {
			t.Errorf("%s is %q, expected %q", name, unit[name], want)
		}
	}
	command := strings.Fields(unit["[Service]ExecStart"])
	taken(t, command)
	name, _, _ := strings.Cut(unit["[Service]LoadCredential"], ":")
	if after(t, command, "--creds") != "${CREDENTIALS_DIRECTORY}/"+name {
		t.Errorf("the credentials %s are not those that are loaded", name)
	}
}

// taken checks that lockproof accepts a command line of `campaign work`.
func taken(t *testing.T, words []string) {
	t.Helper()
	if len(words) == 0 || filepath.Base(words[0]) != "lockproof" {
		t.Fatalf("%q: expected a command line of lockproof", words)
	}
	command, rest, err := rootCommand().Find(words[1:])
	if err != nil || command.CommandPath() != "lockproof campaign work" {
		t.Fatalf("%q is %s, %v", words, command.CommandPath(), err)
	}
	if err := command.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}

// after returns the word that follows a flag.
func after(t *testing.T, words []string, flag string) string {
	t.Helper()
	for i, word := range words[:len(words)-1] {
		if word == flag {
			return words[i+1]
		}
	}
	t.Fatalf("%q has no %s", words, flag)
	return ""
}
