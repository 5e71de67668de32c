module moco-rollout.io/test/reality/kubelet/subject

go 1.26
