import type { Container } from '../objects.ts';

/** What happens to a pod, its node or the registry, and how the pod looks once all effects of that are visible. */
export type Act = { readonly until: Until } & (
  | { readonly do: 'create' }
  | { readonly do: 'delete' | 'evict' }
  | { readonly do: 'image'; readonly container: string; readonly image: string }
  /** Whether mysqld's readiness probe passes. */
  | { readonly do: 'answer'; readonly ready: boolean }
  | { readonly do: 'exit'; readonly container: string }
  /** Memory, without end by default. */
  | { readonly do: 'eat'; readonly container: string; readonly megabytes?: number }
  | { readonly do: 'resize'; readonly container: string; readonly resources: NonNullable<Container['resources']> }
  | { readonly do: 'registry'; readonly answers: boolean }
  | { readonly do: 'kubelet' | 'power'; readonly on: boolean }
);

/** Words that it has to show; `gone`; or that it stays as it is for some seconds. */
type Until = Readonly<Record<string, string>> | 'gone' | { readonly staysForSeconds: number };

export interface StoryContainer {
  readonly name: string;
  readonly image: string;
  readonly resources?: Container['resources'];
  /** From SIGTERM to its end. */
  readonly stopSeconds?: number;
}

export interface Story {
  readonly node: number;
  readonly init?: readonly string[];
  readonly containers: readonly StoryContainer[];
  /** It is created with its node, past the scheduler. */
  readonly bound?: true;
  readonly tolerationSeconds?: number;
  /** What another pod of its node requests. */
  readonly neighbour?: { readonly cpu: string; readonly memory: string };
  readonly acts: readonly Act[];
}

const image = (tag: string): string => `subject:${tag}`;
/** Its probes ask the agent, as those of MOCO's pods do. */
const mysqld: StoryContainer = { name: 'mysqld', image: image('1') };
const agent: StoryContainer = { name: 'agent', image: image('1') };
const slowLog: StoryContainer = { name: 'slow-log', image: image('1') };
const three = [mysqld, agent, slowLog];
const ready = { Ready: 'True', generation: 'current' } as const;
const created: Act = { do: 'create', until: ready };
const held: Act = { do: 'registry', answers: false, until: { staysForSeconds: 0 } };
const answers = (until: Until): Act => ({ do: 'registry', answers: true, until });
const change = (container: string, tag: string, until: Until): Act => ({
  do: 'image',
  container,
  image: image(tag),
  until,
});
const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const withResources = [{ ...mysqld, resources: resources('100m', '64Mi') }, agent];
const resize = (cpu: string, memory: string, until: Until): Act => ({
  do: 'resize',
  container: 'mysqld',
  resources: resources(cpu, memory),
  until,
});
const resized = (cpu: string, memory: string): Until => ({
  generation: 'current',
  'mysqld resources': words(cpu, memory),
});

/**
 * One pod each, in a cluster of three nodes: those of one node follow each other. Played by a kubelet and recorded, and
 * played by the stand-ins' nodes.
 */
export const stories: Readonly<Record<string, Story>> = {
  'starts, fails, is deleted': {
    node: 1,
    init: ['first'],
    containers: [{ ...mysqld, stopSeconds: 3, resources: resources('100m', '64Mi') }, agent, slowLog],
    acts: [
      created,
      { do: 'answer', ready: false, until: { Ready: 'False ContainersNotReady' } },
      { do: 'answer', ready: true, until: ready },
      { do: 'exit', container: 'slow-log', until: { ...ready, 'slow-log restarts': '1' } },
      { do: 'exit', container: 'agent', until: { ...ready, 'agent restarts': '1' } },
      { do: 'eat', container: 'mysqld', until: { ...ready, 'mysqld restarts': '1' } },
      { do: 'delete', until: 'gone' },
    ],
  },
  'is evicted': { node: 1, containers: three, acts: [created, { do: 'evict', until: 'gone' }] },
  'crashes again and again': {
    node: 1,
    containers: [mysqld, agent, { ...slowLog, image: image('crash') }],
    acts: [
      { do: 'create', until: { 'slow-log restarts': '1', 'slow-log': 'waiting CrashLoopBackOff' } },
      change('slow-log', '1', ready),
      { do: 'delete', until: 'gone' },
    ],
  },
  'gets another image': {
    node: 1,
    init: ['first'],
    containers: three,
    acts: [
      created,
      change('slow-log', '2', { ...ready, 'slow-log restarts': '1' }),
      change('agent', '2', { ...ready, 'agent restarts': '1' }),
      change('slow-log', 'missing', { 'slow-log': 'waiting ImagePullBackOff' }),
      change('slow-log', '1', ready),
    ],
  },
  'gets an agent that is missing': {
    node: 1,
    containers: three,
    acts: [created, change('agent', 'missing', { 'mysqld restarts': '1' }), change('agent', '1', ready)],
  },
  'gets an image that is slow to pull': {
    node: 2,
    containers: three,
    acts: [
      created,
      held,
      change('slow-log', 'slow-1', { staysForSeconds: 8 }),
      answers({ ...ready, 'slow-log restarts': '1' }),
      held,
      change('agent', 'slow-2', { staysForSeconds: 20 }),
      answers({ ...ready, 'agent restarts': '1', 'mysqld restarts': '1' }),
    ],
  },
  'begins with an image that is slow to pull': {
    node: 2,
    containers: [mysqld, agent, { ...slowLog, image: image('slow-3') }],
    acts: [held, { do: 'create', until: { staysForSeconds: 8 } }, answers(ready)],
  },
  'begins with an image that is missing': {
    node: 2,
    containers: [mysqld, agent, { ...slowLog, image: image('missing') }],
    acts: [{ do: 'create', until: { 'slow-log': 'waiting ImagePullBackOff' } }, change('slow-log', '1', ready)],
  },
  'is deleted while it has no image': {
    node: 2,
    containers: [{ ...mysqld, image: image('missing') }],
    acts: [
      { do: 'create', until: { mysqld: 'waiting ImagePullBackOff' } },
      { do: 'delete', until: 'gone' },
    ],
  },
  'is rejected by its node': {
    node: 2,
    bound: true,
    containers: [{ ...mysqld, image: image('refused'), resources: resources('99', '64Mi') }],
    acts: [
      { do: 'create', until: { phase: 'Failed' } },
      { do: 'delete', until: 'gone' },
    ],
  },
  'is resized': {
    node: 3,
    neighbour: { cpu: '300m', memory: '16Mi' },
    containers: withResources,
    acts: [
      created,
      resize('200m', '96Mi', resized('200m', '96Mi')),
      resize('1950m', '96Mi', { PodResizePending: 'True Deferred' }),
      resize('300m', '96Mi', resized('300m', '96Mi')),
    ],
  },
  'is resized beyond its node': {
    node: 3,
    containers: withResources,
    acts: [
      created,
      resize('7', '64Mi', { PodResizePending: 'True Deferred' }),
      resize('200m', '64Mi', resized('200m', '64Mi')),
    ],
  },
  'gets less memory than it uses': {
    node: 3,
    containers: withResources,
    acts: [
      created,
      { do: 'eat', container: 'mysqld', megabytes: 40, until: { staysForSeconds: 1 } },
      resize('100m', '20Mi', { PodResizeInProgress: 'True Error' }),
    ],
  },
  'is on a node whose kubelet stops': {
    node: 3,
    containers: three,
    acts: [created, { do: 'kubelet', on: false, until: { Ready: 'False' } }, { do: 'kubelet', on: true, until: ready }],
  },
  'is on a node that stays away': {
    node: 3,
    containers: three,
    tolerationSeconds: 5,
    acts: [
      created,
      { do: 'kubelet', on: false, until: { deletion: 'requested' } },
      { do: 'kubelet', on: true, until: 'gone' },
    ],
  },
  'is on a node that loses its power': {
    node: 3,
    containers: three,
    acts: [
      created,
      { do: 'power', on: false, until: { Ready: 'False' } },
      { do: 'power', on: true, until: { ...ready, 'mysqld restarts': '1', 'agent restarts': '1' } },
    ],
  },
};

function words(cpu: string, memory: string): string {
  return JSON.stringify({ limits: { cpu, memory }, requests: { cpu, memory } });
}

/** As recordings and tests name it. */
export function nameOf(act: Act): string {
  const { until: _, do: deed, ...rest } = act;
  const words = Object.values(rest).map((value) =>
    typeof value === 'object' ? JSON.stringify(value.limits) : String(value),
  );
  return [deed, ...words].join(' ');
}
