import { parseArgs } from 'node:util';
import { type Host, realHost } from '../src/cli/host.ts';
import { runCli } from '../src/cli/run.ts';
import { annotationOn, clusterKind, demoteAnnotation, mysqldContainer } from '../src/moco/names.ts';
import type { AuditEvent } from '../test/support/control-plane/audit-log.ts';
import { sampleCluster } from '../test/support/moco/sample.ts';
import { interruption } from './bench/program/interruption.ts';
import { progressing } from './bench/program/progress.ts';
import { type Parsed, parsed, runProgram } from './bench/program/run-program.ts';
import { type BenchStage, withBenchStage } from './bench/rollouts/bench-stage.ts';
import { Outage } from './bench/rollouts/outage.ts';

// Rolls out a new image on a real control plane, with stand-ins for MOCO and for nodes. The command line shows it live,
// as a user sees it.

const usage = `Usage: hack/node.sh hack/demo.ts [flags]

Rolls out a new image on a real control plane and shows it live.

  --members N        members of the cluster, an odd number from 1 to 9 (default 3)
  --restart SECONDS  how long a member takes to stop and start again, from 0.5 to 60 (default 2)
  -h, --help         show this and exit
`;
const place = { namespace: 'demo', name: 'test' };
const oldImage = 'mysql:8.4.8';
const newImage = 'mysql:8.4.9';
const mostMembers = 9;
const restartSeconds = { least: 0.5, most: 60 };

interface Options {
  readonly members: number;
  readonly restartMilliseconds: number;
}

const say = (line: string): void => console.log(line);

await runProgram(parse(process.argv.slice(2)), async ({ members, restartMilliseconds }) => {
  await withBenchStage({ restartMilliseconds, say, interruption: interruption(), audit: true }, async (demo) => {
    const { client } = demo.stage;
    await progressing(
      say,
      `Creating MySQLCluster ${place.namespace}/${place.name}, ${members} x ${oldImage}`,
      async () => {
        await demo.stage.createNamespace(place.namespace);
        const body = sampleCluster({ ...place, replicas: members, image: oldImage });
        await client.create(clusterKind, { namespace: place.namespace }, body, { priority: 'disrupt' });
        await demo.race(complete(demo));
      },
    );
    say(`Changing its image to ${newImage}\n`);
    say(`\n${await demo.race(rollOut(demo))}`);
  });
});

/** Resolves to one line that sums up what happened. */
async function rollOut(demo: BenchStage): Promise<string> {
  const { controlPlane, stage } = demo;
  let since = 0;
  const outage = new Outage(stage.moco, place.namespace, place.name, () => stage.world.monotonic());
  const show = showStatus(demo);
  try {
    await show.shown;
    since = stage.world.wall();
    const body = { spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image: newImage }] } } } };
    await stage.client.patch(clusterKind, place, 'application/merge-patch+json', body, { priority: 'disrupt' });
    await complete(demo);
    await show.completed();
  } finally {
    await show.end();
  }
  const seconds = ((stage.world.wall() - since) / 1_000).toFixed(1);
  const gap = (outage.end().milliseconds / 1_000).toFixed(1);
  const events = (await controlPlane.audit()).filter(({ objectRef }) => objectRef?.namespace === place.namespace);
  const steps = events.filter(({ requestReceivedTimestamp: at }) => Date.parse(at) >= since).flatMap(stepOf);
  return `Rolled out in ${seconds} s: ${steps.join(', ')}. No commit was answered for ${gap} s.`;
}

/** The controller's requests that take a member or move the primary, such as `evict moco-test-2`. */
function stepOf({ user, verb, objectRef, requestObject }: AuditEvent): readonly string[] {
  if (!user.username.endsWith(':moco-rollout') || objectRef?.resource !== 'pods') return [];
  const { name, subresource } = objectRef;
  if (verb === 'create' && subresource === 'eviction') return [`evict ${name}`];
  if (verb === 'delete') return [`delete ${name}`];
  const demotes = JSON.stringify(requestObject ?? null).includes(`"${demoteAnnotation}":"${annotationOn}"`);
  return demotes ? [`demote ${name}`] : [];
}

/** Resolves once the command line says that the rollout is complete. */
async function complete(demo: BenchStage): Promise<void> {
  const status = await cli(demo, ['wait', place.name], { out: () => undefined, err: () => undefined });
  if (status !== 0) throw new Error(`Expected the rollout to complete, \`wait\` ended with exit status ${status}`);
}

interface LiveView {
  /** Resolves once it has shown something. */
  readonly shown: Promise<void>;
  /** Resolves once the last that it has shown says that all members are updated. */
  completed(): Promise<void>;
  end(): Promise<unknown>;
}

/** The live view of the command line. */
function showStatus(demo: BenchStage): LiveView {
  const { promise: shown, resolve } = Promise.withResolvers<void>();
  let last = '';
  let drawn = (): void => undefined;
  let interrupt = (): void => undefined;
  const ended = cli(demo, ['status', place.name, '--watch'], {
    out: (text) => {
      process.stdout.write(text);
      last = text;
      resolve();
      drawn();
    },
    onInterrupt: (callback) => {
      interrupt = callback;
      return () => undefined;
    },
  });
  const end = async (): Promise<void> => {
    interrupt();
    await ended;
  };
  // `wait` may have seen it before it is drawn.
  const completed = async (): Promise<void> => {
    const upToDate = new Promise<void>((done) => {
      drawn = () => last.includes('UpToDate') && done();
      drawn();
    });
    await Promise.race([upToDate, ended]);
  };
  return { shown: Promise.race([shown, ended.then(() => undefined)]), completed, end };
}

/** Runs the command line in this process. Resolves to its exit status. */
function cli({ controlPlane }: BenchStage, argv: readonly string[], host: Partial<Host>): Promise<number> {
  const flags = ['--namespace', place.namespace, '--kubeconfig', controlPlane.adminKubeconfig];
  return runCli([...argv, ...flags], { ...realHost(), ...host });
}

function parse(argv: readonly string[]): Parsed<Options> {
  return parsed(
    () => usage,
    () => {
      const { values } = parseArgs({
        args: [...argv],
        options: {
          members: { type: 'string', default: '3' },
          restart: { type: 'string', default: '2' },
          help: { type: 'boolean', short: 'h', default: false },
        },
      });
      if (values.help) return null;
      const members = Number(values.members);
      if (!(Number.isInteger(members) && members % 2 === 1 && members >= 1 && members <= mostMembers)) {
        throw new TypeError(
          `Expected --members to be an odd number from 1 to ${mostMembers}, got \`${values.members}\`.`,
        );
      }
      const restart = Number(values.restart);
      if (!(restart >= restartSeconds.least && restart <= restartSeconds.most)) {
        const { least, most } = restartSeconds;
        throw new TypeError(`Expected --restart to be seconds from ${least} to ${most}, got \`${values.restart}\`.`);
      }
      return { members, restartMilliseconds: restart * 1_000 };
    },
  );
}
