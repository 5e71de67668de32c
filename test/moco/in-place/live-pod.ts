import { liveResources } from '../../../src/moco/in-place/live-resources.ts';
import { withPodDefaults } from '../../../src/moco/in-place/pod-defaults.ts';
import { type Json, object, objects, text, texts } from '../../../src/moco/json.ts';
import type { LivePod } from '../../../src/moco/records.ts';

/** The pod that this template has created. */
export function podOf(template: Json, managedFields?: unknown): LivePod {
  const { metadata, spec } = withPodDefaults(template);
  const { labels, annotations } = object(metadata);
  const live = (list: unknown): LivePod['containers'] =>
    objects(list).map((one) => ({
      name: text(one['name']) ?? '',
      image: text(one['image']) ?? '',
      pulledAlways: false,
      id: `id of ${text(one['name'])}`,
      ...liveResources(one, {}, managedFields),
    }));
  return {
    labels: texts(labels),
    annotations: texts(annotations),
    observed: true,
    containers: live(object(spec)['containers']),
    initContainers: live(object(spec)['initContainers']),
    resize: null,
    resizedAt: null,
  };
}
