import { expect } from 'chai';
import { claimStep } from './claims.ts';
import { noPodFaults } from './faults.ts';
import type { PersistentVolumeClaim, Pod } from './objects.ts';
import { PodStage } from './pod-stage.ts';
import { type NodesSettings, realEnd } from './settings.ts';

interface PodShape {
  readonly mysqldImage?: string;
  readonly agentImage?: string;
  readonly initImages?: readonly string[];
  readonly sidecarImage?: string;
  readonly readinessGate?: string;
}

function podOf({
  mysqldImage = 'mysql:1',
  agentImage = 'agent:1',
  initImages = [],
  sidecarImage,
  readinessGate,
}: PodShape): Pod {
  return {
    metadata: { namespace: 'ns', name: 'moco-test-1', uid: 'uid-1', resourceVersion: '1', generation: 3 },
    spec: {
      containers: [
        { name: 'mysqld', image: mysqldImage },
        { name: 'agent', image: agentImage },
        { name: 'slow-log', image: 'log:1' },
      ],
      initContainers: [
        ...(sidecarImage === undefined ? [] : [{ name: 'sidecar', image: sidecarImage, restartPolicy: 'Always' }]),
        ...initImages.map((image, index) => ({ name: `init-${index}`, image })),
      ],
      ...(readinessGate === undefined ? {} : { readinessGates: [{ conditionType: readinessGate }] }),
    },
  };
}

class Stage extends PodStage {
  constructor(shape: PodShape = {}, settings: Partial<NodesSettings> = {}) {
    super(podOf(shape), settings);
  }
}

const minute = 60_000;

// What recordings of kubelets can't show: longer times, faults that nobody has, and several init containers. The rest is
// compared with them in recorded/recorded.test.ts.
describe('the nodes stand-in', () => {
  describe('a pod that starts', () => {
    it('is bound, runs its init containers in order, then runs all containers, which get ready', () => {
      const stage = new Stage({ initImages: ['a', 'b'] }, { initMilliseconds: 1000, startMilliseconds: 1000 });
      stage.pass(0);
      expect(stage.existing().spec.nodeName).to.equal('node-b');
      expect(stage.status.phase).to.equal('Pending');
      expect(stage.container('init-0').state).to.have.property('running');
      expect(stage.container('init-1').state).to.deep.equal({ waiting: { reason: 'PodInitializing' } });
      expect(stage.container('mysqld').state).to.deep.equal({ waiting: { reason: 'PodInitializing' } });
      expect(stage.condition('Initialized')).to.include({ status: 'False', reason: 'ContainersNotInitialized' });
      stage.pass(1500);
      expect(stage.container('init-0').state.terminated).to.include({ exitCode: 0, reason: 'Completed' });
      expect(stage.container('init-1').state).to.have.property('running');
      stage.pass(1000);
      expect(stage.condition('Initialized')?.status).to.equal('True');
      expect(stage.status.phase).to.equal('Pending');
      stage.pass(minute);
      expect(stage.status.phase).to.equal('Running');
      expect(stage.status.podIP).to.equal('127.0.1.7');
      expect(stage.status.containerStatuses?.map(({ ready, started }) => ready && started)).to.deep.equal([
        true,
        true,
        true,
      ]);
      expect(stage.condition('Ready')).to.include({ status: 'True', observedGeneration: 3 });
    });

    it('has a running mysqld that is not started until its startup probe has passed', () => {
      const stage = new Stage({}, { startMilliseconds: 100, startupMilliseconds: 10_000 }).pass(5000);
      expect(stage.container('mysqld')).to.include({ started: false, ready: false });
      expect(stage.container('agent')).to.include({ started: true, ready: true });
      stage.pass(10_000);
      expect(stage.container('mysqld')).to.include({ started: true, ready: true });
    });

    it('causes no more writes once it is ready', () => {
      const stage = new Stage().pass(minute);
      const { length } = stage.writes;
      stage.pass(60 * minute);
      expect(stage.writes).to.have.length(length);
    });

    it('waits for a readiness gate independently of its containers', () => {
      const stage = new Stage({ readinessGate: 'example.com/gate' }).pass(minute);
      expect(stage.condition('ContainersReady')?.status).to.equal('True');
      expect(stage.condition('Ready')).to.include({ status: 'False', reason: 'ReadinessGatesNotReady' });
    });

    it('has sidecars that start before the other containers and keep running', () => {
      const stage = new Stage({ sidecarImage: 'proxy:1', initImages: ['a'] }).pass(minute);
      expect(stage.container('sidecar')).to.include({ ready: true, started: true });
      expect(stage.container('init-0').state.terminated?.exitCode).to.equal(0);
      expect(stage.condition('Ready')?.status).to.equal('True');
      stage.fault('sidecar', 'notReady').pass(minute);
      expect(stage.condition('Initialized')?.status).to.equal('True');
      expect(stage.condition('Ready')?.message).to.equal('containers with unready status: [sidecar]');
      expect(stage.container('mysqld')).to.include({ ready: true, restartCount: 0 });
    });

    it('is reported as unschedulable if no node accepts it, and bound once one does', () => {
      const stage = new Stage();
      stage.faults = { ...noPodFaults, neverScheduled: true };
      stage.pass(minute);
      expect(stage.condition('PodScheduled')).to.include({ status: 'False', reason: 'Unschedulable' });
      expect(stage.writes).to.have.length(1);
      stage.heal().pass(minute);
      expect(stage.condition('Ready')?.status).to.equal('True');
    });

    it('is reported with the reason why no node accepts it', () => {
      for (const [fault, said] of [
        [true, /Insufficient cpu/],
        ['forItsNode', /volume node affinity conflict/],
      ] as const) {
        const stage = new Stage();
        stage.faults = { ...noPodFaults, neverScheduled: fault };
        stage.pass(minute);
        expect(stage.condition('PodScheduled')?.message).to.match(said);
      }
    });
  });

  describe('readiness of mysqld', () => {
    it('ends only after some time if the kubelet is patient, and not if MySQL serves again before', () => {
      const stage = new Stage({}, { readinessPatienceMilliseconds: 20_000 }).pass(minute);
      stage.mysqldServes = false;
      stage.pass(19_000);
      expect(stage.container('mysqld').ready).to.equal(true);
      stage.mysqldServes = true;
      stage.pass(1000);
      stage.mysqldServes = false;
      stage.pass(19_000);
      expect(stage.container('mysqld').ready).to.equal(true);
      stage.pass(1000);
      expect(stage.container('mysqld').ready).to.equal(false);
    });

    it('ends at once with its process, however patient the kubelet is', () => {
      const stage = new Stage({}, { readinessPatienceMilliseconds: 20_000 }).pass(minute).fault('mysqld', 'dead');
      stage.mysqldServes = false;
      stage.pass(0);
      expect(stage.container('mysqld').ready).to.equal(false);
    });

    it('waits for the label the first time, and stays without it', () => {
      const stage = new Stage({}, { labelBeforeReady: 'role' }).pass(minute);
      expect(stage.container('mysqld').ready).to.equal(false);
      stage.label('role').pass(0);
      expect(stage.container('mysqld').ready).to.equal(true);
      stage.label('another').pass(0);
      expect(stage.container('mysqld').ready).to.equal(true);
    });
  });

  describe('the liveness of mysqld', () => {
    it('fails while the agent is away for too long: mysqld restarts once, after the pull', () => {
      const stage = new Stage({}, { pullMilliseconds: 10 * minute })
        .pass(minute)
        .image('agent', 'agent:2')
        .pass(minute);
      expect(stage.container('mysqld')).to.include({ restartCount: 0, ready: false });
      expect(stage.pass(20 * minute).container('mysqld')).to.include({ restartCount: 1, ready: true });
      expect(stage.container('agent')).to.include({ restartCount: 1, ready: true, image: 'agent:2' });
    });
  });

  describe('images with a fault', () => {
    it('stop at the init container that uses the missing image', () => {
      const stage = new Stage({ initImages: ['agent:1', 'mysql:missing'], mysqldImage: 'mysql:missing' }).pass(600);
      expect(stage.container('init-1').state.waiting?.reason).to.be.oneOf(['ErrImagePull', 'ImagePullBackOff']);
      expect(stage.container('mysqld').state.waiting?.reason).to.equal('PodInitializing');
    });

    it('crash again and again, with a growing delay', () => {
      const settings = { backOffMilliseconds: 10_000, crashAfterMilliseconds: 100, restartMilliseconds: 100 };
      const stage = new Stage({ initImages: ['mysql:crash'], mysqldImage: 'mysql:crash' }, settings).pass(5000);
      expect(stage.container('init-0').state.terminated?.exitCode).to.equal(0);
      expect(stage.container('mysqld')).to.include({ restartCount: 1, ready: false });
      expect(stage.container('mysqld').state.waiting?.reason).to.equal('CrashLoopBackOff');
      expect(stage.container('mysqld').lastState.terminated?.exitCode).to.equal(1);
      expect(stage.status.phase).to.equal('Running');
      stage.pass(10_000);
      expect(stage.container('mysqld').restartCount).to.equal(2);
      stage.pass(10_000);
      expect(stage.container('mysqld').restartCount).to.equal(2);
      stage.pass(10_000);
      expect(stage.container('mysqld').restartCount).to.equal(3);
    });

    it('hang before they start, and with them what is said of the other containers', () => {
      const stage = new Stage({ mysqldImage: 'mysql:hang' }).pass(60 * minute);
      for (const name of ['mysqld', 'agent']) {
        expect(stage.container(name).state.waiting?.reason, name).to.equal('ContainerCreating');
      }
      const initHangs = new Stage({ initImages: ['mysql:hang'] }).pass(60 * minute);
      expect(initHangs.container('init-0').state).to.have.property('running');
      expect(initHangs.container('mysqld').state.waiting?.reason).to.equal('PodInitializing');
    });

    it('run and are never ready', () => {
      const stage = new Stage({ mysqldImage: 'mysql:notready' }).pass(60 * minute);
      expect(stage.container('mysqld')).to.include({ ready: false, started: true });
    });
  });

  describe('injected faults', () => {
    it('keep a killed mysqld dead until it is healed', () => {
      const stage = new Stage()
        .pass(minute)
        .fault('mysqld', 'dead')
        .pass(60 * minute);
      expect(stage.container('mysqld').state.waiting?.reason).to.equal('CrashLoopBackOff');
      expect(stage.container('mysqld').lastState.terminated?.exitCode).to.equal(137);
      expect(stage.container('mysqld').restartCount).to.equal(0);
      stage.heal().pass(minute);
      expect(stage.container('mysqld')).to.include({ restartCount: 1, ready: true });
    });

    it('crash a running container', () => {
      const stage = new Stage().pass(minute).fault('slow-log', 'crashLoop').pass(1000);
      expect(stage.container('slow-log').state.waiting?.reason).to.equal('CrashLoopBackOff');
      expect(stage.container('mysqld').ready).to.equal(true);
    });

    it('make a container not ready without ending it', () => {
      const stage = new Stage().pass(minute).fault('mysqld', 'notReady').pass(0);
      expect(stage.container('mysqld')).to.include({ ready: false, started: true, restartCount: 0 });
      expect(stage.heal().pass(0).container('mysqld').ready).to.equal(true);
    });
  });

  describe('a pod that is deleted', () => {
    it('ends as MOCO’s pods do: the agent and with it the readiness first, mysqld after its preStop hook', () => {
      const lifecycle = { preStop: { exec: { command: ['sleep', '20'] } } };
      const stage = new Stage({}, { ...realEnd, stopMilliseconds: 1000 }).pass(minute);
      const pod = stage.existing();
      const containers = pod.spec.containers.map((one) => (one.name === 'mysqld' ? { ...one, lifecycle } : one));
      stage.pod = { ...pod, spec: { ...pod.spec, containers } };
      stage.askDeletion().pass(4000);
      expect(stage.container('mysqld').ready).to.equal(true);
      stage.pass(2000);
      expect(stage.container('agent').state.terminated?.exitCode).to.equal(0);
      expect(stage.container('mysqld')).to.deep.include({ ready: false }).and.have.nested.property('state.running');
      stage.pass(14_000);
      expect(stage.container('mysqld')).to.have.nested.property('state.running');
      expect(stage.pass(2000).pod).to.equal(null);
    });

    it('ends within its grace period', () => {
      const stage = new Stage({}, { stopMilliseconds: minute }).pass(minute).askDeletion(2).pass(3000);
      expect(stage.pod).to.equal(null);
    });

    it('is removed at once if no container runs', () => {
      const stage = new Stage({ initImages: ['mysql:missing'] }, { stopMilliseconds: minute }).pass(minute);
      expect(stage.askDeletion().pass(0).pod).to.equal(null);
    });

    it('hangs if scripted so', () => {
      const stage = new Stage().pass(minute);
      stage.faults = { ...noPodFaults, hangsTerminating: true };
      stage.askDeletion().pass(60 * minute);
      expect(stage.container('mysqld').ready).to.equal(true);
      expect(stage.heal().pass(minute).pod).to.equal(null);
    });

    it('hangs with its containers stopped while its final DELETE is refused, and is retried', () => {
      const stage = new Stage().pass(minute);
      stage.refuseDelete = true;
      stage.askDeletion().pass(minute);
      expect(stage.container('mysqld').state.terminated?.reason).to.equal('Completed');
      expect(stage.writes.filter(({ verb }) => verb === 'delete').length).to.be.greaterThan(1);
      stage.refuseDelete = false;
      expect(stage.pass(minute).pod).to.equal(null);
    });
  });

  describe('a lost node', () => {
    it('has pods that are ready until Kubernetes notices', () => {
      const stage = new Stage({}, { silenceMilliseconds: 44_000 }).pass(minute);
      stage.faults = { ...noPodFaults, nodeLost: true };
      expect(stage.pass(43_000).condition('Ready')?.status).to.equal('True');
      expect(stage.pass(2000).condition('Ready')?.status).to.equal('False');
    });
  });

  describe('claims', () => {
    const claim = (spec: PersistentVolumeClaim['spec'], status?: PersistentVolumeClaim['status']) =>
      claimStep({
        metadata: { namespace: 'ns', name: 'mysql-data-moco-test-0', uid: 'u', resourceVersion: '1' },
        spec,
        ...(status === undefined ? {} : { status }),
      });
    const resources = { requests: { storage: '2Gi' } };

    it('are bound with the requested size', () => {
      const [volume, ...writes] = claim({ resources });
      expect(volume).to.include({ verb: 'createVolume', name: 'pvc-u' });
      expect(writes.map(({ body }) => body)).to.deep.equal([
        { spec: { volumeName: 'pvc-u' } },
        { status: { phase: 'Bound', accessModes: [], capacity: { storage: '2Gi' } } },
      ]);
    });

    it('grow', () => {
      const writes = claim({ resources, volumeName: 'pvc-u' }, { phase: 'Bound', capacity: { storage: '1Gi' } });
      expect(writes.map(({ body }) => Object.keys(body))).to.deep.equal([['status']]);
    });

    it('are not written if nothing is missing', () => {
      expect(claim({ resources, volumeName: 'pvc-u' }, { phase: 'Bound', capacity: { storage: '2Gi' } })).to.deep.equal(
        [],
      );
    });
  });
});
