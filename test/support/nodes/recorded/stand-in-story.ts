import { faultOfImage } from '../faults.ts';
import type { Container, Pod } from '../objects.ts';
import { PodStage } from '../pod-stage.ts';
import { ends, PodHistory, type Segment } from './history.ts';
import type { Act, Story, StoryContainer } from './stories.ts';

const stepMilliseconds = 100;
const mostMilliseconds = 600_000;
/** For what follows from an act when its end has been seen, as in recordings. */
const settleMilliseconds = 3_000;
const tolerationMilliseconds = 300_000;
const namespace = 'default';

/** The recordings' probes: once a second, three times in vain for readiness and ten times for liveness. */
const settings = {
  readinessPatienceMilliseconds: 2_500,
  imagePullMilliseconds: 10_000,
  livenessPatienceMilliseconds: 10_000,
  othersStopMilliseconds: 0,
  initMilliseconds: 1_000,
  startupMilliseconds: 0,
};

/** What the stand-ins' nodes make of a story. */
export function played({ acts, ...story }: Story): readonly Segment[] {
  const history = new PodHistory();
  const { tolerationSeconds } = story;
  const stage = new PodStage(null, {
    ...settings,
    stopMilliseconds: 1000 * (story.containers.find(({ name }) => name === 'mysqld')?.stopSeconds ?? 0),
    tolerationMilliseconds: tolerationSeconds === undefined ? tolerationMilliseconds : tolerationSeconds * 1000,
  });
  stage.onVersion = (pod) => history.show(pod);
  for (const act of acts) {
    history.act(act);
    if (act.do === 'create') stage.pod = podOf(story);
    else perform(stage, act);
    const { until } = act;
    if (typeof until === 'object' && 'staysForSeconds' in until) {
      stage.pass(Number(until.staysForSeconds) * 1000);
      continue;
    }
    for (let passed = 0; !ends(act, history.last) && passed < mostMilliseconds; passed += stepMilliseconds) {
      stage.pass(stepMilliseconds);
    }
    stage.pass(settleMilliseconds);
  }
  return history.segments;
}

function perform(stage: PodStage, act: Exclude<Act, { readonly do: 'create' }>): void {
  switch (act.do) {
    case 'delete':
      stage.askDeletion();
      return;
    case 'evict':
      stage.evict();
      return;
    case 'image':
      stage.image(act.container, act.image);
      return;
    case 'resize':
      stage.faults = { ...stage.faults, resize: faultOf(act) };
      stage.resize(act.container, act.resources);
      return;
    case 'answer':
      stage.mysqldServes = act.ready;
      return;
    case 'exit':
      stage.restart(act.container);
      return;
    case 'eat':
      if (act.megabytes === undefined) stage.restart(act.container);
      return;
    case 'registry':
      stage.settings = {
        ...stage.settings,
        pullMilliseconds: act.answers ? 0 : Number.POSITIVE_INFINITY,
        imageFault: (image, isInit) => (!act.answers && image.includes('slow') ? 'hangs' : faultOfImage(image, isInit)),
      };
      return;
    case 'kubelet':
      stage.faults = { ...stage.faults, nodeLost: !act.on };
      return;
    case 'power':
      stage.faults = { ...stage.faults, nodeLost: !act.on };
      if (act.on) for (const { name } of stage.existing().spec.containers) stage.restart(name);
  }
}

/** The kubelet's answer is part of the story: the stand-ins' nodes have no sizes. */
function faultOf({ until }: Act): 'Deferred' | 'Infeasible' | 'Error' | null {
  const words = JSON.stringify(until);
  return (['Deferred', 'Infeasible', 'Error'] as const).find((fault) => words.includes(fault)) ?? null;
}

function podOf({ node, bound, init = [], containers }: Omit<Story, 'acts'>): Pod {
  return {
    metadata: { namespace, name: `moco-test-${node}`, uid: 'uid-1', resourceVersion: '1', generation: 1 },
    spec: {
      ...(bound ? { nodeName: `node-${node}` } : {}),
      containers: containers.map(containerOf),
      ...(init.length === 0 ? {} : { initContainers: init.map((name) => ({ name, image: 'subject:1' })) }),
    },
    status: { phase: 'Pending' },
  };
}

function containerOf({ name, image, resources }: StoryContainer): Container {
  return { name, image, ...(resources === undefined ? {} : { resources }) };
}
