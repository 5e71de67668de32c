import { type Json, object } from '../../../src/base/json.ts';
import { withPodDefaults } from '../../../src/moco/in-place/pod-defaults.ts';
import { clusterNameLabel } from '../../../src/moco/names.ts';
import { projectPod } from '../../../src/moco/pod-projection.ts';
import type { LivePod } from '../../../src/moco/records.ts';

/** The pod that this template has created, for member 0 of a cluster. */
export function podOf(template: Json, managedFields?: unknown): LivePod {
  const { metadata, spec } = withPodDefaults(template);
  const labels = { ...object(object(metadata)['labels']), [clusterNameLabel]: 'test' };
  const raw = { metadata: { ...object(metadata), name: 'moco-test-0', labels, managedFields }, spec };
  const live = projectPod(raw)?.live;
  if (!live) throw new Error('expected a pod of a cluster, got none');
  return live;
}
